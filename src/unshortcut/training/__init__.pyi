from .contact_sheet import show as show
from .exporting import export as export
from .folder import RunFolder as RunFolder
from .pretraining import PretrainingRun as PretrainingRun
from .pretraining import build_method as build_method
from .pretraining import pretrain as pretrain
from .projection import load_method as load_method
from .projection import load_projection as load_projection
