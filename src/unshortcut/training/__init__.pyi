from .contact_sheet import show as show
from .exporting import export as export
from .folder import RunFolder as RunFolder
from .pretraining import Run as Run
from .pretraining import pretrain as pretrain
from .projection import load_method as load_method
from .projection import load_projection as load_projection
