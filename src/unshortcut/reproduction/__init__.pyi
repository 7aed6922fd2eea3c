from .claim import Claim as Claim
from .claim import all_claims as all_claims
from .outcome import Reproduction as Reproduction
from .run import reproduce as reproduce
