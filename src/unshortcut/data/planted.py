"""Data sets with a planted cue: something besides the content that tells the class.

`marks:DATA` is DATA with a mark of its own for each class. What a model makes of it, and whether a
tool finds it, can then be compared with the truth: the images that carry the cue are known, and
DATA itself is the same images without it.
"""

import hashlib
from abc import ABC
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.data.decode import EncodedImage
from unshortcut.data.source import DerivedSource, Image, ImageSource
from unshortcut.discovery import find_all
from unshortcut.errors import UsageError, unknown
from unshortcut.parts import build, settings
from unshortcut.randomness import Rng, generator

Share = Annotated[float, Field(ge=0, le=1)]
Carriers = NDArray[np.bool_]
"""(N,): whether an image carries a cue."""
OpenSplit = Callable[[str], ImageSource]
"""Opens another split of the same data."""


@settings
class Cue(ABC):
    """A kind of cue and its settings; a subclass changes images, labels, or both.

    Args:
        share: share of the images that carry the cue, among those that can; they are chosen at
            random.
        seed: random seed of this choice and of all others, such as positions.
    """

    name: ClassVar[str]
    """What it is called in `NAME:DATA`."""

    share: Share = 0.95
    seed: Annotated[int, Field(ge=0)] = 0

    def candidates(self, source: ImageSource, labels: IndexArray) -> Carriers:
        """The images that can carry the cue."""
        return np.ones(len(labels), dtype=bool)

    def carriers(self, source: ImageSource, labels: IndexArray) -> Carriers:
        """The images that carry the cue; those of a larger data set begin with the same."""
        drawn = generator(self.seed, self.name, "carriers").random(len(labels)) < self.share
        return drawn & self.candidates(source, labels)

    def image(self, image: Image, label: int, index: int, carries: bool) -> Image:
        """An image of the data set, with the cue if it carries it."""
        return image

    def labels(self, source: ImageSource, labels: IndexArray, carriers: Carriers) -> IndexArray:
        """The labels of all images."""
        return labels

    def plant(self, source: ImageSource, open_split: OpenSplit) -> "Planted":
        """The data set with the cue."""
        return Planted(source, self)

    def __str__(self) -> str:
        """As in a spec: the share, and what differs from the defaults otherwise."""
        stated = [f"{self.name}={self.share:g}"]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "share" and value != field.default:
                stated.append(f"{field.name}={value}")
        return ",".join(stated)


class Planted(DerivedSource):
    """A source with a planted cue; `carriers` says which images carry it."""

    def __init__(self, source: ImageSource, cue: Cue) -> None:
        super().__init__(source)
        if source.labels is None or source.classes is None:
            raise UsageError(f"{cue.name}: tells the class, and the data have no labels")
        if len(source.labels) and source.labels.min() < 0:
            raise UsageError(f"{cue.name}: tells the class, and some images have no label")
        self.cue = cue
        self.true_labels: IndexArray = source.labels
        """The labels without the cue."""
        self.carriers: Carriers = cue.carriers(source, source.labels)
        self.labels = cue.labels(source, source.labels, self.carriers)

    def image(self, index: int) -> Image:
        label = int(self.true_labels[index])
        return self.cue.image(super().image(index), label, index, bool(self.carriers[index]))

    def encoded(self, index: int) -> bytes | None:
        """The bytes of an image's file; None if the cue is drawn into its pixels."""
        image = self.image(index)
        return image.data if isinstance(image, EncodedImage) else None

    def fingerprint(self) -> str:
        """Hash of the source, of the cue, and of how it is drawn."""
        digest = hashlib.sha256(f"{self.source.fingerprint()} {self.cue!r}".encode())
        assert self.labels is not None
        digest.update(self.labels.tobytes())
        digest.update(self.carriers.tobytes())
        digest.update(self.cue.image(_Gray(), 0, 0, True).pixels().tobytes())
        return digest.hexdigest()


class _Gray:
    """A plain image to draw a cue on."""

    height = width = 64

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return np.full((self.height, self.width, 3), 127, np.uint8)


@settings
class PaintedCue(Cue):
    """A cue that is drawn into the pixels of an image."""

    def paint(self, pixels: ImageArray, label: int, rng: Rng) -> None:
        """Draw the cue of a class into pixels (h, w, 3) of any size; `rng` is that of the image."""
        raise NotImplementedError

    def image(self, image: Image, label: int, index: int, carries: bool) -> Image:
        return _Painted(image, self, label, index) if carries else image


class _Painted:
    """An image with a cue that is drawn when its pixels are decoded, at their size."""

    def __init__(self, image: Image, cue: PaintedCue, label: int, index: int) -> None:
        self.height, self.width = image.height, image.width
        self._image, self._cue, self._label, self._index = image, cue, label, index

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        pixels = self._image.pixels(shrink).copy()
        self._cue.paint(pixels, self._label, generator(self._cue.seed, self._cue.name, self._index))
        return pixels


def cues() -> dict[str, type[Cue]]:
    """The kinds of cues by name."""
    return find_all("unshortcut.data.cues", Cue)


def is_cue(prefix: str) -> bool:
    """Whether the prefix of a spec names a cue."""
    return _name(prefix) in cues()


def parse_cue(prefix: str) -> Cue:
    """The cue of a prefix: `marks`, `marks=0.5` (its share) or `marks=0.5,size=0.2`."""
    name, known = _name(prefix), cues()
    if name not in known:
        raise unknown("cue", name, known)
    values: dict[str, Any] = {}
    for number, part in enumerate(prefix.split(",")):
        key, equals, value = part.partition("=")
        if number and not equals:
            raise UsageError(f"'{prefix}:': write the settings of a cue as KEY=VALUE, not '{part}'")
        if equals:
            values["share" if number == 0 else key] = value
    return build(known[name], values, f"cue '{name}'")


def _name(prefix: str) -> str:
    return prefix.partition(",")[0].partition("=")[0]
