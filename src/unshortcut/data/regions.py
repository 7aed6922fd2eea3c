"""What is annotated inside images: boxes, masks of classes, and which classes an image shows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, IndexArray

MaskArray = NDArray[np.uint8]
"""(h, w): the class of each pixel, or `IGNORED`."""
IGNORED = 255
"""Class of the pixels of a mask that count neither as right nor as wrong."""


@dataclass(frozen=True)
class Regions:
    """The annotation of one image; None for what its data set does not annotate."""

    boxes: FloatArray | None = None
    """(n, 4): x0, y0, x1, y1 in pixels of the full image, upright."""
    box_labels: IndexArray | None = None
    """(n,): indices into the `box_classes` of the source."""
    ignored: NDArray[np.bool_] | None = None
    """(n,): boxes that count neither as found nor as missed, such as VOC's difficult objects and
    COCO's crowds; they are not trained on."""
    mask: MaskArray | None = None
    """(h, w): indices into the `mask_classes` of the source, or `IGNORED`."""
    odd: NDArray[np.bool_] | None = None
    """(n,): boxes of objects that are out of context, i.e. do not belong to the scene."""

    @classmethod
    def of_boxes(
        cls,
        boxes: FloatArray,
        labels: IndexArray,
        ignored: NDArray[np.bool_] | None = None,
        mask: MaskArray | None = None,
        odd: NDArray[np.bool_] | None = None,
    ) -> "Regions":
        """Boxes (n, 4) with labels (n,), none of them ignored unless stated; n may be 0."""
        boxes = np.asarray(boxes, dtype=np.float32).reshape(-1, 4)
        labels = np.asarray(labels, dtype=np.int64).reshape(-1)
        if ignored is None:
            ignored = np.zeros(len(boxes), dtype=np.bool_)
        if odd is not None:
            odd = np.asarray(odd, dtype=np.bool_)
        return cls(boxes, labels, np.asarray(ignored, dtype=np.bool_), mask, odd)

    def take(self, rows: IndexArray | NDArray[np.bool_]) -> "Regions":
        """Some of the boxes, by numbers or by a mask; without boxes, the same."""
        return replace(
            self,
            boxes=None if self.boxes is None else self.boxes[rows],
            box_labels=None if self.box_labels is None else self.box_labels[rows],
            ignored=None if self.ignored is None else self.ignored[rows],
            odd=None if self.odd is None else self.odd[rows],
        )

    def trained_on(self) -> "Regions":
        """The same without the boxes that are ignored."""
        return self if self.ignored is None else self.take(~self.ignored)

    def copy(self) -> "Regions":
        """The same in arrays of its own."""
        arrays = {name: value for name, value in vars(self).items() if value is not None}
        return Regions(**{name: value.copy() for name, value in arrays.items()})

    def without_boxes(self) -> "Regions":
        """The mask alone."""
        return Regions(mask=self.mask)


@dataclass(frozen=True)
class MultiLabels:
    """Which classes each image of a source shows; an image may show several, or none."""

    classes: tuple[str, ...]
    values: NDArray[np.int8]
    """(N, C): 1 shown, 0 not shown, -1 unknown, which counts neither way."""

    def take(self, indices: IndexArray) -> "MultiLabels":
        """Those of some images, in the given order."""
        return MultiLabels(self.classes, self.values[indices])


def presence(
    labels: list[IndexArray], ignored: list[NDArray[np.bool_]], classes: tuple[str, ...]
) -> MultiLabels:
    """The classes that the boxes of each image show.

    A class with only ignored boxes in an image is unknown there, as in VOC.
    """
    values = np.zeros((len(labels), len(classes)), dtype=np.int8)
    for row, (numbers, unsure) in enumerate(zip(labels, ignored, strict=True)):
        values[row, numbers[unsure]] = -1
        values[row, numbers[~unsure]] = 1
    return MultiLabels(classes, values)
