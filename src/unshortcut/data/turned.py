"""The images of a source turned by quarter turns, with the turn as the label."""

import hashlib
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import Array, Image, ImageSource
from unshortcut.errors import unknown
from unshortcut.imaging.geometry import quarter_turns
from unshortcut.randomness import generator

Turns = Literal["one", "all"]
DEGREES = ("0", "90", "180", "270")
"""The classes, anticlockwise."""


class Turned(ImageSource):
    """Another source's images, each turned by `one` random number of quarter turns, or by `all`.

    With `all`, image i stands at 4i to 4i + 3 with its four turns in the order of `DEGREES`. With
    `one`, a turn is drawn by (seed, i) such that every four neighbours have the four turns among
    them: the classes are equal to within rounding, whatever the order of the source.
    """

    classes = DEGREES
    labels: NDArray[np.int64]

    def __init__(self, source: ImageSource, turns: Turns = "one", seed: int = 0) -> None:
        if turns not in get_args(Turns):
            raise unknown("choice of turns", turns, get_args(Turns))
        self.source = source
        self.turns = turns
        self.copies = len(DEGREES) if turns == "all" else 1
        self.labels = (
            np.tile(np.arange(len(DEGREES)), len(source))
            if turns == "all"
            else _drawn(len(source), seed)
        )
        self.has_headers = source.has_headers

    def __len__(self) -> int:
        return len(self.labels)

    def image(self, index: int) -> Image:
        image = self.source.image(index // self.copies)
        return _TurnedImage(image, int(self.labels[index]))

    def identity(self, index: int) -> str:
        degrees = DEGREES[self.labels[index]]
        return f"{self.source.identity(index // self.copies)} turned by {degrees}°"

    def check_header(self, index: int) -> None:
        self.source.check_header(index // self.copies)

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"turned {self.turns} {self.source.fingerprint()}".encode())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class _TurnedImage:
    """An image that is turned once it is decoded."""

    upright: Image
    turns: int

    @property
    def height(self) -> int:
        return self.upright.width if self.turns % 2 else self.upright.height

    @property
    def width(self) -> int:
        return self.upright.height if self.turns % 2 else self.upright.width

    def pixels(self, shrink: float = 1.0) -> Array:
        return quarter_turns(self.upright.pixels(shrink), self.turns)


def _drawn(count: int, seed: int) -> NDArray[np.int64]:
    """(count,) turns: one permutation of the four for every four images."""
    fours = range(0, count, len(DEGREES))
    drawn = [generator(seed, "turned", first).permutation(len(DEGREES)) for first in fours]
    return np.array(drawn, dtype=np.int64).reshape(-1)[:count]
