from .columns import Column as Column
from .columns import Property as Property
from .file_facts import FileFacts as FileFacts
from .pixel_facts import PixelFacts as PixelFacts
from .reading import Inspected as Inspected
from .reading import inspect_source as inspect_source
