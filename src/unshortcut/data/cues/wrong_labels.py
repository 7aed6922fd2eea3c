"""`wrong-labels`: some images have the label of another class."""

from typing import ClassVar

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data.planted import Carriers, Cue, Share
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.parts import settings
from unshortcut.randomness import generator


@settings
class WrongLabels(Cue):
    """Labels that are wrong, each of another class with the same probability."""

    name: ClassVar[str] = "wrong-labels"

    share: Share = 0.1

    def labels(self, source: ImageSource, labels: IndexArray, carriers: Carriers) -> IndexArray:
        count = len(source.classes or ())
        if count < 2:
            raise UsageError(f"{self.name}: needs at least two classes")
        steps = generator(self.seed, self.name).integers(1, count, len(labels))
        return np.where(carriers, (labels + steps) % count, labels)
