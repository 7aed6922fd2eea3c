"""The interface of every data set: an ordered collection of images, accessed by index."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray


class BadImageError(Exception):
    """An image that cannot be read as RGB; the message is the reason."""


class Image(Protocol):
    """One image; its pixels are decoded on request, at no higher resolution than needed."""

    @property
    def height(self) -> int:
        """Height of the full image, upright (EXIF orientation applied)."""
        ...

    @property
    def width(self) -> int: ...

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        """The image as uint8 (h, w, 3), RGB.

        `shrink` allows a format that can to decode a smaller image, with h and w of at least
        `height / shrink` and `width / shrink`; `shrink=1` gives the full image.
        Raises `BadImageError`.
        """
        ...


@runtime_checkable
class ImageWithVariants(Image, Protocol):
    """An image that exists in other versions too, e.g. with its texture filtered out."""

    def variant(self, name: str) -> Image:
        """The variant of a name. Raises `BadImageError`."""
        ...


def require_same_size(copy: Image, image: Image) -> None:
    """Raise `BadImageError` if the copy of an image has another size."""
    if (copy.height, copy.width) != (image.height, image.width):
        raise BadImageError(
            f"its copy is {copy.width} × {copy.height} pixels, it is {image.width} × {image.height}"
        )


@dataclass(frozen=True)
class ArrayImage:
    """An image in memory, uint8 (h, w, 3)."""

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
    """A fixed, ordered collection of images; cheap to pickle, so that workers can receive it."""

    classes: tuple[str, ...] | None = None
    """Class names in the order of the labels, or None without labels."""
    labels: NDArray[np.int64] | None = None
    """(N,) int64, or None."""
    has_headers: bool = False
    """Whether `check_header` finds bad images faster than decoding them would."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def image(self, index: int) -> Image:
        """The image at an index. Raises `BadImageError`."""

    @abstractmethod
    def identity(self, index: int) -> str:
        """The name of the image, usually its path inside the data set."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hex digest of the content; caches use it as a key."""

    def check_header(self, index: int) -> None:
        """Raise `BadImageError` if the header cannot be read; reads little of a good file."""
        return


class DerivedSource(ImageSource):
    """A source made from another one, which it equals except for what a subclass changes."""

    def __init__(self, source: ImageSource) -> None:
        self.source = source
        self.classes = source.classes
        self.labels = source.labels
        self.has_headers = source.has_headers

    def __len__(self) -> int:
        return len(self.source)

    def image(self, index: int) -> Image:
        return self.source.image(index)

    def identity(self, index: int) -> str:
        return self.source.identity(index)

    def check_header(self, index: int) -> None:
        self.source.check_header(index)

    def fingerprint(self) -> str:
        return self.source.fingerprint()


class Subset(DerivedSource):
    """Some images of a source, in the given order."""

    def __init__(self, source: ImageSource, indices: NDArray[np.int64]) -> None:
        super().__init__(source)
        self.indices = np.asarray(indices, dtype=np.int64)
        self.labels = None if source.labels is None else source.labels[self.indices]

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
