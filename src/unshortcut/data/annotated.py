"""Image files with boxes, masks or several labels: what all annotated data sets share."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data.boxes import BoxTable, Size
from unshortcut.data.decode import EncodedImage
from unshortcut.data.encoded import HEADER_BYTES
from unshortcut.data.failures import Failure
from unshortcut.data.files import read_file
from unshortcut.data.folder import FolderSource
from unshortcut.data.masks import MaskFiles
from unshortcut.data.regions import MultiLabels, Regions
from unshortcut.data.source import BadImageError, Classes, Labels


class AnnotatedSource(FolderSource):
    """Given files below a folder, with what is annotated in them.

    Boxes are in arrays over all images, and masks are read from their files on request.
    """

    def __init__(
        self,
        root: Path,
        names: Sequence[str],
        *,
        classes: Classes = None,
        labels: Labels = None,
        boxes: BoxTable | None = None,
        box_classes: Classes = None,
        masks: MaskFiles | None = None,
        mask_classes: Classes = None,
        multilabels: MultiLabels | None = None,
        left_out: Sequence[Failure] = (),
    ) -> None:
        super().__init__(root, names, classes, labels)
        self.boxes, self.box_classes = boxes, box_classes
        self.masks, self.mask_classes = masks, mask_classes
        self.multilabels = multilabels
        self.left_out = tuple(left_out)

    def regions(self, index: int) -> Regions:
        mask = None if self.masks is None else self.masks.read(index)
        if self.boxes is None:
            return Regions(mask=mask)
        return replace(self.boxes.regions(index, self._size), mask=mask)

    def take(self, indices: IndexArray) -> "AnnotatedSource":
        return AnnotatedSource(
            self.root,
            [self.names[int(index)] for index in indices],
            classes=self.classes,
            labels=None if self.labels is None else self.labels[indices],
            boxes=None if self.boxes is None else self.boxes.take(indices),
            box_classes=self.box_classes,
            masks=None if self.masks is None else self.masks.take(indices),
            mask_classes=self.mask_classes,
            multilabels=None if self.multilabels is None else self.multilabels.take(indices),
            left_out=self.left_out,
        )

    def fingerprint(self) -> str:
        """That of the files, and of their annotations."""
        digest = hashlib.sha256(super().fingerprint().encode())
        digest.update(repr((self.box_classes, self.mask_classes)).encode())
        if self.boxes is not None:
            for array in (self.boxes.ends, self.boxes.boxes, self.boxes.labels, self.boxes.ignored):
                digest.update(np.ascontiguousarray(array).data)
        if self.masks is not None:
            digest.update(self.masks.fingerprint().encode())
        if self.multilabels is not None:
            digest.update(repr(self.multilabels.classes).encode())
            digest.update(np.ascontiguousarray(self.multilabels.values).data)
        return digest.hexdigest()

    def modification_times(self) -> str:
        masks = "" if self.masks is None else self.masks.modification_times()
        return f"{super().modification_times()} {masks}"

    def _size(self, index: int) -> Size:
        return header_size(self.root / self.names[index])


def header_size(path: Path) -> Size:
    """Height and width of an image file, upright; reads little of it. Raises `BadImageError`."""
    start = read_file(path, HEADER_BYTES)
    try:
        image = EncodedImage(start)
    except BadImageError:
        if len(start) < HEADER_BYTES:
            raise
        image = EncodedImage(read_file(path))
    return image.height, image.width


def size_if_readable(path: Path) -> Size | None:
    """As `header_size`; None for a bad image, which is listed when it is to be decoded."""
    try:
        return header_size(path)
    except BadImageError:
        return None
