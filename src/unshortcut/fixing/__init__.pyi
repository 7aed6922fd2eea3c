from .balanced import fit_balanced as fit_balanced
from .cues import Cues as Cues
from .cues import read_cues as read_cues
from .outcome import Outcome as Outcome
from .reweighted import fit_reweighted as fit_reweighted
from .run import FixRun as FixRun
from .run import fix as fix
