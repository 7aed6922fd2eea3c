"""The boxes of all images of a source: checked as they are read, and kept in a few arrays."""

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, IndexArray
from unshortcut.data.failures import Failure
from unshortcut.data.regions import MultiLabels, Regions
from unshortcut.errors import UsageError

Size = tuple[int, int]
"""Height and width of an image in pixels."""
Value = str | SupportsFloat
"""A coordinate as a file has it."""


@dataclass(frozen=True)
class BoxTable:
    """The boxes of N images, in the order of the images; forked workers share the memory."""

    ends: IndexArray
    """(N,): where the boxes of each image end."""
    boxes: FloatArray
    """(M, 4): x0, y0, x1, y1, in pixels, or in units of the image if `relative`."""
    labels: NDArray[np.int32]
    """(M,)"""
    ignored: NDArray[np.bool_]
    """(M,)"""
    relative: bool

    def regions(self, index: int, size: Callable[[int], Size]) -> Regions:
        """The boxes of an image in pixels; `size` is asked for only if they are relative."""
        rows = slice(int(self.ends[index - 1]) if index else 0, int(self.ends[index]))
        boxes = self.boxes[rows].copy()
        if self.relative and len(boxes):
            height, width = size(index)
            boxes *= np.array([width, height, width, height], dtype=np.float32)
        return Regions.of_boxes(boxes, self.labels[rows].astype(np.int64), self.ignored[rows])

    def take(self, indices: IndexArray) -> "BoxTable":
        """The boxes of some images, in the given order."""
        counts = np.diff(self.ends, prepend=0)[indices]
        ends = np.cumsum(counts, dtype=np.int64)
        # Row k of an image is its first row plus k.
        shift = np.repeat(self.ends[indices] - ends, counts)
        rows = np.arange(len(shift), dtype=np.int64) + shift
        return BoxTable(
            ends, self.boxes[rows], self.labels[rows], self.ignored[rows], self.relative
        )

    def presence(self, classes: tuple[str, ...]) -> MultiLabels:
        """The classes that each image shows; one with only ignored boxes is unknown, as in VOC."""
        values = np.zeros((len(self.ends), len(classes)), dtype=np.int8)
        images = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        values[images[self.ignored], self.labels[self.ignored]] = -1
        values[images[~self.ignored], self.labels[~self.ignored]] = 1
        return MultiLabels(classes, values)


class BoxReader:
    """Collects boxes; those that cannot be used are left out and listed, the rest goes on.

    A box that is partly outside its image is clipped. One of no area, one outside the image, one of
    an unknown class and one with a value that is not a number are listed in `left_out`.

    Args:
        classes: names of the classes in the order of the labels.
        relative: coordinates are in units of the image, not in pixels.
    """

    def __init__(self, classes: Sequence[str], *, relative: bool = False) -> None:
        self.classes = tuple(classes)
        self.relative = relative
        self._left_out: dict[Failure, None] = {}
        self._numbers = {name: number for number, name in enumerate(self.classes)}
        # A few bytes for each box: a data set may have millions.
        self._images, self._labels = array("q"), array("i")
        self._boxes, self._ignored = array("f"), array("b")

    def add(
        self,
        image: int,
        identity: str,
        name: str,
        box: Sequence[Value],
        size: Size | None = None,
        *,
        ignored: bool = False,
    ) -> bool:
        """Add a box x0, y0, x1, y1 of a class to an image, whose size is None if it is not known.

        Relative boxes need no size. Returns whether the box can be used.
        """
        label = self._numbers.get(name)
        if label is None:
            self.leave_out(identity, f"a box of the unknown class '{name}'")
            return False
        try:
            x0, y0, x1, y1 = (float(value) for value in box)
        except (ValueError, TypeError):
            x0 = y0 = x1 = y1 = math.nan
        if not math.isfinite(x0 + y0 + x1 + y1):
            self._refuse(identity, name, box, "is not four numbers")
            return False
        if x1 <= x0 or y1 <= y0:
            self._refuse(identity, name, box, "has no area")
            return False
        height, width = (1, 1) if self.relative else size or (math.inf, math.inf)
        x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
        if x1 <= x0 or y1 <= y0:
            self._refuse(identity, name, box, "is outside the image")
            return False
        self._images.append(image)
        self._labels.append(label)
        self._boxes.extend((x0, y0, x1, y1))
        self._ignored.append(ignored)
        return True

    def leave_out(self, identity: str, reason: str) -> None:
        """List an annotation that cannot be used."""
        self._left_out[Failure(identity, reason)] = None

    @property
    def left_out(self) -> tuple[Failure, ...]:
        """What cannot be used, each thing once, in the order in which it was found."""
        return tuple(self._left_out)

    def table(self, images: int, where: str, scores: Sequence[float] | None = None) -> BoxTable:
        """The boxes of `images` images. Raises `UsageError` if there were boxes, but no good one.

        Args:
            where: what the boxes were read from, for the error.
            scores: scores of the usable boxes, to sort those of each image by, highest first.
        """
        if self._left_out and not self._labels:
            first = next(iter(self._left_out))
            raise UsageError(
                f"none of the boxes in {where} can be used; the first is that of {first.identity}: "
                f"{first.reason}"
            )
        of_image = np.frombuffer(self._images, dtype=np.int64)
        keys = (of_image,) if scores is None else (-np.asarray(scores, np.float32), of_image)
        order = np.lexsort(keys)
        counts = np.bincount(of_image, minlength=images)
        return BoxTable(
            np.cumsum(counts, dtype=np.int64),
            np.frombuffer(self._boxes, dtype=np.float32).reshape(-1, 4)[order],
            np.frombuffer(self._labels, dtype=np.int32)[order],
            np.frombuffer(self._ignored, dtype=np.int8)[order].astype(np.bool_),
            self.relative,
        )

    def _refuse(self, identity: str, name: str, box: Sequence[Value], what: str) -> None:
        values = ", ".join(str(value) for value in box)
        self.leave_out(identity, f"a box of '{name}' {what}: {values}")
