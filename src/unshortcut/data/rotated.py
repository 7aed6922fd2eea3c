"""The images of a source rotated by quarter turns, with the angle as the label."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import Image, ImageSource
from unshortcut.imaging.geometry import rotate90
from unshortcut.randomness import generator

DEGREES = ("0", "90", "180", "270")
"""The classes; angles are counterclockwise."""


class Rotated(ImageSource):
    """The images of another source, each rotated by a random multiple of 90 degrees.

    The angle of image i is determined by (seed, i). Every four consecutive images get the four
    angles in random order, so the classes are balanced whatever the order of the source. Each image
    appears only once, so a split never has the same image on both sides.
    """

    classes = DEGREES
    labels: NDArray[np.int64]

    def __init__(self, source: ImageSource, seed: int = 0) -> None:
        self.source = source
        self.labels = _sample_labels(len(source), seed)
        self.has_headers = source.has_headers

    def __len__(self) -> int:
        return len(self.labels)

    def image(self, index: int) -> Image:
        return _RotatedImage(self.source.image(index), int(self.labels[index]))

    def identity(self, index: int) -> str:
        return f"{self.source.identity(index)} rotated by {DEGREES[self.labels[index]]}°"

    def check_header(self, index: int) -> None:
        self.source.check_header(index)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"turned {self.source.fingerprint()}".encode())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class _RotatedImage:
    """An image that is rotated when it is decoded."""

    upright: Image
    quarter_turns: int

    @property
    def height(self) -> int:
        return self.upright.width if self.quarter_turns % 2 else self.upright.height

    @property
    def width(self) -> int:
        return self.upright.height if self.quarter_turns % 2 else self.upright.width

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return rotate90(self.upright.pixels(shrink), self.quarter_turns)


def _sample_labels(count: int, seed: int) -> NDArray[np.int64]:
    """Numbers of quarter turns (count,): a permutation of all four for every four images."""
    starts = range(0, count, len(DEGREES))
    labels = [generator(seed, "turned", start).permutation(len(DEGREES)) for start in starts]
    return np.array(labels, dtype=np.int64).reshape(-1)[:count]
