"""Images that come with the boxes of their objects, for views of objects.

The boxes are those of the source: annotated, or proposed (`data/proposals.py`). An epoch goes over
images, of which each view plan draws an object, or over objects, one item for each.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from unshortcut.arrays import FloatArray, ImageArray, IndexArray
from unshortcut.data.source import BadImageError, DerivedSource, Image, ImageSource, Subset
from unshortcut.errors import UsageError
from unshortcut.imaging.boxes import areas
from unshortcut.progress import OnProgress

NO_BOXES = np.zeros((0, 4), dtype=np.float32)


class ImageWithObjects:
    """An image and the boxes (n, 4) of its objects: x0, y0, x1, y1 in its pixels; n may be 0."""

    def __init__(self, image: Image, boxes: FloatArray, chosen: int | None = None) -> None:
        self.image = image
        self.boxes = boxes
        self.chosen = chosen
        """The object that is looked at; None lets the view plan draw one."""

    @property
    def height(self) -> int:
        return self.image.height

    @property
    def width(self) -> int:
        return self.image.width

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return self.image.pixels(shrink)


class WithObjects(DerivedSource):
    """A source whose images come with the boxes of their objects.

    Args:
        smallest: boxes with an area of less than `smallest`² pixels are no objects.
    """

    def __init__(self, source: ImageSource, smallest: float = 0) -> None:
        if source.box_classes is None:
            raise UsageError(
                "views of objects need boxes, which these data do not have: propose some with "
                "`unshortcut propose` and name the file in data.proposals"
            )
        super().__init__(source)
        self.smallest = smallest

    def image(self, index: int) -> ImageWithObjects:
        return ImageWithObjects(super().image(index), self.boxes(index))

    def boxes(self, index: int) -> FloatArray:
        """The boxes (n, 4) of an image that are objects; ignored ones are not."""
        boxes = self.regions(index).trained_on().boxes
        if boxes is None:
            return NO_BOXES
        return boxes[areas(boxes) >= self.smallest**2] if self.smallest else boxes

    def counts(self, on_progress: OnProgress = lambda done, total: None) -> IndexArray:
        """(N,): the number of objects of each image; 0 if its annotation cannot be read."""
        found = np.zeros(len(self), dtype=np.int64)
        for index in range(len(self)):
            with suppress(BadImageError):  # reported when the image is to be decoded
                found[index] = len(self.boxes(index))
            if index % 256 == 0 or index + 1 == len(self):
                on_progress(index + 1, len(self))
        return found


class EachObject(Subset):
    """One item per object, as object-aware cropping is published; an image without any is one too.

    Args:
        counts: (N,) number of objects of each image.
    """

    def __init__(self, source: WithObjects, counts: IndexArray) -> None:
        items = np.maximum(counts, 1)
        super().__init__(source, np.repeat(np.arange(len(source), dtype=np.int64), items))
        first = np.repeat(np.cumsum(items) - items, items)
        self.numbers: IndexArray = np.arange(len(self.indices), dtype=np.int64) - first
        """(M,): which object of its image an item is."""
        self._image: Callable[[int], Image] = source.source.image
        self._boxes = source.boxes

    def image(self, index: int) -> ImageWithObjects:
        original = self.original(index)
        boxes = self._boxes(original)
        return ImageWithObjects(
            self._image(original), boxes, int(self.numbers[index]) if len(boxes) else None
        )
