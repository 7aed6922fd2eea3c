"""The interface of every data set: an ordered collection of images, accessed by index."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.data.blocks import Blocks, join_blocks
from unshortcut.data.failures import Failure
from unshortcut.data.regions import MultiLabels, Regions

Classes = tuple[str, ...] | None
"""Class names in the order of the labels, or None without labels."""
Labels = IndexArray | None
"""(N,), or None."""


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


class ArrayImage:
    """An image in memory, uint8 (h, w, 3)."""

    def __init__(self, array: ImageArray) -> None:
        self.array = array
        self.height, self.width = array.shape[:2]

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return self.array


class ImageSource(ABC):
    """A fixed, ordered collection of images; cheap to pickle, so that workers can receive it."""

    classes: Classes = None
    labels: Labels = None
    has_headers: bool = False
    """Whether `check_header` finds bad images faster than decoding them would."""
    box_classes: Classes = None
    """Names of the classes of boxes, None if no boxes are annotated."""
    mask_classes: Classes = None
    """Names of the classes of masks, None if there are no masks."""
    multilabels: MultiLabels | None = None
    """The classes that each image shows, for images that may show several."""
    trusted: NDArray[np.bool_] | None = None
    """(N,): whether the label of an image is known to be right; None if nothing is said of it."""
    blocks: Blocks | None = None
    """Which images are read together, where single images cannot be read on their own."""
    left_out: tuple[Failure, ...] = ()
    """Annotations that cannot be used, by the image that they belong to, with the reason."""

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
        """A hex digest of the content, with annotations, if any; the same wherever it is copied."""

    def modification_times(self) -> str:
        """Changes with the modification times of its files; empty if there are none."""
        return ""

    def cache_key(self) -> str:
        """What caches on this machine know the content by.

        An edit that keeps the size of a file may escape the fingerprint, but has a new time.
        """
        return f"{self.fingerprint()} {self.modification_times()}"

    def regions(self, index: int) -> Regions:
        """What is annotated in an image. Raises `BadImageError` if that cannot be read."""
        return Regions()

    def encoded(self, index: int) -> bytes | None:
        """The bytes of an image's file; None if it has no file. Raises `BadImageError`."""
        return None

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
        self.box_classes = source.box_classes
        self.mask_classes = source.mask_classes
        self.multilabels = source.multilabels
        self.trusted = source.trusted
        self.blocks = source.blocks
        self.left_out = source.left_out

    def original(self, index: int) -> int:
        """The index of an image in the original source."""
        return index

    def __len__(self) -> int:
        return len(self.source)

    def image(self, index: int) -> Image:
        return self.source.image(self.original(index))

    def identity(self, index: int) -> str:
        return self.source.identity(self.original(index))

    def regions(self, index: int) -> Regions:
        return self.source.regions(self.original(index))

    def encoded(self, index: int) -> bytes | None:
        return self.source.encoded(self.original(index))

    def check_header(self, index: int) -> None:
        self.source.check_header(self.original(index))

    def fingerprint(self) -> str:
        return self.source.fingerprint()

    def modification_times(self) -> str:
        return self.source.modification_times()


class Subset(DerivedSource):
    """Some images of a source, in the given order."""

    def __init__(self, source: ImageSource, indices: IndexArray) -> None:
        super().__init__(source)
        self.indices = np.asarray(indices, dtype=np.int64)
        self.labels = None if source.labels is None else source.labels[self.indices]
        if source.multilabels is not None:
            self.multilabels = source.multilabels.take(self.indices)
        if source.trusted is not None:
            self.trusted = source.trusted[self.indices]
        if source.blocks is not None:
            self.blocks = source.blocks.take(self.indices)

    def __len__(self) -> int:
        return len(self.indices)

    def original(self, index: int) -> int:
        return int(self.indices[index])

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.source.fingerprint().encode())
        digest.update(self.indices.tobytes())
        return digest.hexdigest()


class Joined(ImageSource):
    """Sources of the same classes, one after another.

    It has labels, boxes, masks or several labels per image only if all of them have.
    """

    def __init__(self, *sources: ImageSource) -> None:
        self.sources = sources
        self.ends = np.cumsum([len(source) for source in sources])
        self.classes = sources[0].classes
        self.has_headers = any(source.has_headers for source in sources)
        labels = [source.labels for source in sources if source.labels is not None]
        self.labels = np.concatenate(labels) if len(labels) == len(sources) else None
        if all(source.box_classes == sources[0].box_classes for source in sources):
            self.box_classes = sources[0].box_classes
        if all(source.mask_classes == sources[0].mask_classes for source in sources):
            self.mask_classes = sources[0].mask_classes
        shown = [source.multilabels for source in sources if source.multilabels is not None]
        if len(shown) == len(sources) and all(one.classes == shown[0].classes for one in shown):
            values = np.concatenate([one.values for one in shown])
            self.multilabels = MultiLabels(shown[0].classes, values)
        trusted = [source.trusted for source in sources if source.trusted is not None]
        self.trusted = np.concatenate(trusted) if len(trusted) == len(sources) else None
        self.blocks = join_blocks([(source.blocks, len(source)) for source in sources])
        self.left_out = tuple(failure for source in sources for failure in source.left_out)

    def __len__(self) -> int:
        return int(self.ends[-1])

    def image(self, index: int) -> Image:
        source, index = self.locate(index)
        return source.image(index)

    def identity(self, index: int) -> str:
        source, index = self.locate(index)
        return source.identity(index)

    def regions(self, index: int) -> Regions:
        source, index = self.locate(index)
        regions = source.regions(index)
        if self.box_classes is None:
            regions = regions.without_boxes()
        return regions if self.mask_classes is not None else replace(regions, mask=None)

    def encoded(self, index: int) -> bytes | None:
        source, index = self.locate(index)
        return source.encoded(index)

    def check_header(self, index: int) -> None:
        source, index = self.locate(index)
        source.check_header(index)

    def fingerprint(self) -> str:
        prints = " ".join(source.fingerprint() for source in self.sources)
        return hashlib.sha256(prints.encode()).hexdigest()

    def modification_times(self) -> str:
        return " ".join(source.modification_times() for source in self.sources)

    def locate(self, index: int) -> tuple[ImageSource, int]:
        """The source that holds an image, and the image's index in it."""
        number = int(np.searchsorted(self.ends, index, side="right"))
        if index < 0 or number == len(self.sources):
            raise IndexError(index)
        start = int(self.ends[number - 1]) if number else 0
        return self.sources[number], index - start


class AnnotatedImage:
    """An image together with what is annotated in it."""

    def __init__(self, image: Image, regions: Regions) -> None:
        self.height, self.width, self.pixels = image.height, image.width, image.pixels
        self.regions = regions


class Annotated(DerivedSource):
    """A source whose images come with their annotations; a mask of another size is an error."""

    def image(self, index: int) -> AnnotatedImage:
        image, regions = super().image(index), self.regions(index)
        mask = regions.mask
        if mask is not None and mask.shape != (image.height, image.width):
            raise BadImageError(
                f"its mask is {mask.shape[1]} × {mask.shape[0]} pixels, it is {image.width} × "
                f"{image.height}"
            )
        return AnnotatedImage(image, regions)
