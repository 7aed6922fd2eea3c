"""Types of arrays that the whole package shares."""

import numpy as np
from numpy.typing import NDArray

ImageArray = NDArray[np.uint8]
"""An RGB image, uint8 (h, w, 3), or a stack of them, (n, h, w, 3)."""
FloatArray = NDArray[np.float32]
IndexArray = NDArray[np.int64]
"""Integers: indices, or the labels of images."""
