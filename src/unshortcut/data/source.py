"""What every data set looks like from outside: an ordered collection of images by index."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray


class BadImageError(Exception):
    """An image that cannot be shown as RGB; the message is the reason."""


class Image(Protocol):
    """One image whose pixels are decoded only when they are asked for, and no finer than needed."""

    @property
    def height(self) -> int:
        """Rows of the full image, upright (EXIF orientation applied)."""
        ...

    @property
    def width(self) -> int: ...

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        """The image as uint8 (h, w, 3), RGB.

        Where the format allows, h and w are as small as `height / shrink`, `width / shrink`
        permit, never smaller; so `shrink=1` gives the full image.
        Raises `BadImageError`.
        """
        ...


@dataclass(frozen=True)
class ArrayImage:
    """An image that is in memory already, uint8 (h, w, 3)."""

    array: ImageArray

    @property
    def height(self) -> int:
        return int(self.array.shape[0])

    @property
    def width(self) -> int:
        return int(self.array.shape[1])

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return self.array


class ImageSource(ABC):
    """A fixed, ordered collection of images; cheap to pickle, so that workers can have it."""

    classes: tuple[str, ...] | None = None
    """Class names in the order of the labels, or None where there are no labels."""
    labels: NDArray[np.int64] | None = None
    """(N,) int64, or None."""
    has_headers: bool = False
    """Whether `check_header` finds bad images for less than it costs to decode them."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def image(self, index: int) -> Image:
        """The image at a position. Raises `BadImageError`."""

    @abstractmethod
    def identity(self, index: int) -> str:
        """What names the image to a person: its path inside the data set."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hex digest that changes when the content does; keys the caches."""

    def check_header(self, index: int) -> None:
        """Raise `BadImageError` where the header cannot be read; touches little of a good file."""
        return


class Subset(ImageSource):
    """Some images of a source, in the given order."""

    def __init__(self, source: ImageSource, indices: NDArray[np.int64]) -> None:
        self.source = source
        self.indices = np.asarray(indices, dtype=np.int64)
        self.classes = source.classes
        self.labels = None if source.labels is None else source.labels[self.indices]
        self.has_headers = source.has_headers

    def __len__(self) -> int:
        return len(self.indices)

    def image(self, index: int) -> Image:
        return self.source.image(int(self.indices[index]))

    def identity(self, index: int) -> str:
        return self.source.identity(int(self.indices[index]))

    def check_header(self, index: int) -> None:
        self.source.check_header(int(self.indices[index]))

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.source.fingerprint().encode())
        digest.update(self.indices.tobytes())
        return digest.hexdigest()
