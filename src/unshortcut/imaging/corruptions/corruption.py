"""What a corruption is: its random half, and the half that applies what was drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.imaging.corruptions.severities import Parameters

"""An image, (h, w, 3)."""

Drawn = TypeVar("Drawn")

compiled = njit(cache=True, nogil=True, error_model="numpy")
"""For loops whose every rounding is that of the definition: no `fastmath` of any kind. The results
are cut to whole levels at the end, so the last bit of a sum decides about a level on flat areas."""


@dataclass(frozen=True)
class Corruption(Generic[Drawn]):
    """One of the 15; both halves are pure, so an image can be made again from what was drawn."""

    apply: Callable[[ImageArray, Parameters, Drawn], ImageArray]
    """(image, parameters, drawn) to an image of the same shape; the given one, which lies in memory
    row by row, is not changed."""
    draw: Callable[[np.random.Generator, int, int, Parameters], Drawn]
    """(rng, height, width, parameters) to all that is random in it."""


def levels(image: NDArray[np.floating]) -> ImageArray:
    """An image of 0..1 as whole levels, cut off as the published code does it, not rounded."""
    out = np.empty(image.shape, np.uint8)
    _cut(image.reshape(-1), out.reshape(-1))
    return out


def nothing(rng: np.random.Generator, height: int, width: int, parameters: Parameters) -> None:
    """The random half of a corruption that has none."""


_BLOCK = 1024


@compiled
def _cut(image, out):  # type: ignore[no-untyped-def]
    # Through a buffer of the image's type, so that the product is rounded to it.
    scaled = np.empty(_BLOCK, image.dtype)
    for first in range(0, image.size, _BLOCK):
        count = min(_BLOCK, image.size - first)
        source, target = image[first : first + count], out[first : first + count]
        for i in range(count):
            scaled[i] = min(max(source[i], 0.0), 1.0) * 255.0
        for i in range(count):
            target[i] = np.uint8(np.int32(scaled[i]))
