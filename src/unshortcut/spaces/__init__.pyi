from .advice import Advice as Advice
from .advice import advise as advise
from .choice import Choice as Choice
from .loading import load_spaces as load_spaces
from .loading import save_spaces as save_spaces
from .reliance import SpaceReliance as SpaceReliance
from .reliance import space_reliance as space_reliance
from .subsets import probe_spaces as probe_spaces
