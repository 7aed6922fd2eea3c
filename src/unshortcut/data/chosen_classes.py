"""A source of which only some classes are annotated: several labels per image, and boxes."""

import hashlib
from collections.abc import Sequence

import numpy as np

from unshortcut.data.regions import MultiLabels, Regions
from unshortcut.data.source import DerivedSource, ImageSource
from unshortcut.errors import UsageError, unknown


class OfClasses(DerivedSource):
    """The same images with labels and boxes of some of their classes, in the given order.

    Masks and the one label of an image stay as they are.
    """

    def __init__(self, source: ImageSource, classes: Sequence[str]) -> None:
        super().__init__(source)
        shown = require_multilabels(source, "these data")
        numbers = {name: number for number, name in enumerate(shown.classes)}
        for name in classes:
            if name not in numbers:
                raise unknown("class of the data", name, shown.classes)
        columns = [numbers[name] for name in classes]
        self.multilabels = MultiLabels(tuple(classes), shown.values[:, columns])
        self._new = np.zeros(0, dtype=np.int64)
        if source.box_classes is not None:
            order = {name: number for number, name in enumerate(classes)}
            self.box_classes = tuple(classes)
            self._new = np.array([order.get(name, -1) for name in source.box_classes])
            """(B,): the new label of each class of boxes, or -1."""

    def regions(self, index: int) -> Regions:
        found = super().regions(index)
        if found.boxes is None or found.box_labels is None or found.ignored is None:
            return found
        labels = self._new[found.box_labels]
        kept = labels >= 0
        return Regions.of_boxes(
            found.boxes[kept], labels[kept], found.ignored[kept], mask=found.mask
        )

    def fingerprint(self) -> str:
        assert self.multilabels is not None
        content = f"{super().fingerprint()} {self.multilabels.classes!r}"
        return hashlib.sha256(content.encode()).hexdigest()


def require_multilabels(source: ImageSource, where: str) -> MultiLabels:
    """The classes that each image shows; `UsageError` if the data do not say."""
    if source.multilabels is None:
        raise UsageError(
            f"{where} must say which classes each image shows, by boxes or by several labels; "
            "see docs/data.md for the layouts that do"
        )
    return source.multilabels
