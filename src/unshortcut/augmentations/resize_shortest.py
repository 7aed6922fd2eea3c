"""Resizes the shorter side to a random size, for detection: Detectron's `ResizeShortestEdge`."""

from typing import Annotated

from pydantic import Field

from unshortcut.augmentations.resize import Resizing, Sizes
from unshortcut.fields import PositiveInt
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class ResizeShortest(Resizing):
    """Resizes the shorter side to one of `sizes`, or less if the longer side would be too long.

    The aspect ratio is kept. With one size nothing is random.
    """

    name = "resize_shortest"

    sizes: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (
        480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800,
    )  # fmt: skip
    """Lengths of the shorter side in pixels, all equally likely."""
    longest: PositiveInt = 1333
    """The most that the longer side may have, in pixels."""

    def sample(self, rng: Rng, height: int, width: int) -> Sizes:
        shorter = self.sizes[0]
        if len(self.sizes) > 1:
            shorter = self.sizes[int(rng.integers(len(self.sizes)))]
        scale = min(shorter / min(height, width), self.longest / max(height, width))
        return Sizes(_rounded(height * scale), _rounded(width * scale), height, width)


def _rounded(length: float) -> int:
    """The nearest integer from 1, halves up as in Detectron."""
    return max(1, int(length + 0.5))
