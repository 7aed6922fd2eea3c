"""A corruption: one function samples its random parameters, another one applies them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.imaging.corruptions.severities import Parameters
from unshortcut.randomness import Rng

Sampled = TypeVar("Sampled")

compiled = njit(cache=True, nogil=True, error_model="numpy")
"""Compiles loops that must round exactly as the definition does, so without `fastmath`. Results are
truncated to integers, so that in flat areas the last bit of a sum can change a level."""


@dataclass(frozen=True)
class Corruption(Generic[Sampled]):
    """A pair of pure functions, so that an image can be reproduced from the sampled parameters."""

    apply: Callable[[ImageArray, Parameters, Sampled], ImageArray]
    """(image, parameters, sampled) -> image of the same shape. The input is C-contiguous and is not
    changed."""
    sample: Callable[[Rng, int, int, Parameters], Sampled]
    """(rng, height, width, parameters) -> everything that is random in the corruption."""


def levels(image: NDArray[np.floating]) -> ImageArray:
    """Convert an image in 0..1 to uint8, truncated and not rounded, as in the published code."""
    out = np.empty(image.shape, np.uint8)
    _truncate(image.reshape(-1), out.reshape(-1))
    return out


def sample_nothing(rng: Rng, height: int, width: int, parameters: Parameters) -> None:
    """For corruptions without randomness."""


_BLOCK = 1024


@compiled
def _truncate(image, out):  # type: ignore[no-untyped-def]
    # A buffer of the image's dtype, so that the product is rounded to it.
    scaled = np.empty(_BLOCK, image.dtype)
    for first in range(0, image.size, _BLOCK):
        count = min(_BLOCK, image.size - first)
        source, target = image[first : first + count], out[first : first + count]
        for i in range(count):
            scaled[i] = min(max(source[i], 0.0), 1.0) * 255.0
        for i in range(count):
            target[i] = np.uint8(np.int32(scaled[i]))
