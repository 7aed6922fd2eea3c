"""The images of a source turned by quarter turns, with the turn as the label."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import Image, ImageSource
from unshortcut.imaging.geometry import rotate90
from unshortcut.randomness import generator

DEGREES = ("0", "90", "180", "270")
"""The classes, counterclockwise."""


class Rotated(ImageSource):
    """Another source's images, each turned by a random number of quarter turns.

    The turn of image i is drawn by (seed, i) such that every four neighbors have the four turns
    among them: the classes are equal to within rounding, whatever the order of the source. No image
    is shown twice, so however the images are split, none is on both sides.
    """

    classes = DEGREES
    labels: NDArray[np.int64]

    def __init__(self, source: ImageSource, seed: int = 0) -> None:
        self.source = source
        self.labels = _drawn(len(source), seed)
        self.has_headers = source.has_headers

    def __len__(self) -> int:
        return len(self.labels)

    def image(self, index: int) -> Image:
        return _RotatedImage(self.source.image(index), int(self.labels[index]))

    def identity(self, index: int) -> str:
        return f"{self.source.identity(index)} turned by {DEGREES[self.labels[index]]}°"

    def check_header(self, index: int) -> None:
        self.source.check_header(index)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"turned {self.source.fingerprint()}".encode())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class _RotatedImage:
    """An image that is turned once it is decoded."""

    upright: Image
    turns: int

    @property
    def height(self) -> int:
        return self.upright.width if self.turns % 2 else self.upright.height

    @property
    def width(self) -> int:
        return self.upright.height if self.turns % 2 else self.upright.width

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return rotate90(self.upright.pixels(shrink), self.turns)


def _drawn(count: int, seed: int) -> NDArray[np.int64]:
    """(count,) turns: one permutation of the four for every four images."""
    fours = range(0, count, len(DEGREES))
    drawn = [generator(seed, "turned", first).permutation(len(DEGREES)) for first in fours]
    return np.array(drawn, dtype=np.int64).reshape(-1)[:count]
