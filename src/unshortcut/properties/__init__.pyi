from .columns import Column as Column
from .columns import Property as Property
from .file_facts import FileFacts as FileFacts
from .file_facts import file_facts as file_facts
from .pixel_facts import PixelFacts as PixelFacts
from .pixel_facts import pixel_facts as pixel_facts
from .reading import Inspected as Inspected
from .reading import inspect_source as inspect_source
