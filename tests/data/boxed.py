"""Images in memory with given boxes."""

from collections.abc import Sequence

import numpy as np

from unshortcut.data.regions import Regions
from unshortcut.data.source import ArrayImage, ImageSource

Box = tuple[float, float, float, float]


class Boxed(ImageSource):
    """Random images of size × size with boxes; the label of an image is its index."""

    def __init__(
        self,
        boxes: Sequence[Sequence[Box]],
        size: int = 64,
        ignored: Sequence[Sequence[bool]] | None = None,
    ) -> None:
        self.boxes, self.size, self.ignored = boxes, size, ignored
        self.box_classes = ("object",)
        self.labels = np.arange(len(boxes), dtype=np.int64)
        self.classes = tuple(map(str, range(len(boxes))))

    def __len__(self) -> int:
        return len(self.boxes)

    def image(self, index: int) -> ArrayImage:
        rng = np.random.default_rng(index)
        return ArrayImage(rng.integers(256, size=(self.size, self.size, 3), dtype=np.uint8))

    def identity(self, index: int) -> str:
        return str(index)

    def fingerprint(self) -> str:
        return repr((self.boxes, self.size))

    def regions(self, index: int) -> Regions:
        boxes = np.array(self.boxes[index], np.float32).reshape(-1, 4)
        ignored = None if self.ignored is None else np.array(self.ignored[index])
        return Regions.of_boxes(boxes, np.zeros(len(boxes), np.int64), ignored)
