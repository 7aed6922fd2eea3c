from .features import Features as Features
from .features import compute_features as compute_features
from .images import ImageTransform as ImageTransform
from .preprocessing import Preprocessing as Preprocessing
