"""Parts of the images of a source as images of their own, such as objects and groups of them."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.data.source import Image, ImageSource
from unshortcut.imaging.geometry import box_in_smaller
from unshortcut.imaging.object_boxes import Corners
from unshortcut.views.regions import Region, start


@dataclass(frozen=True)
class Cutout:
    """A region of an image."""

    whole: Image
    region: Region

    @property
    def height(self) -> int:
        return self.region.height

    @property
    def width(self) -> int:
        return self.region.width

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        array = self.whole.pixels(shrink)
        top, left, height, width = box_in_smaller(
            self.region, self.whole.height, self.whole.width, array
        )
        first_row, first_column = start(top, array.shape[0]), start(left, array.shape[1])
        return array[first_row:, first_column:][: math.ceil(height), : math.ceil(width)]


class Cutouts(ImageSource):
    """One image for each box.

    Args:
        images: (M,), the image in the source that each box belongs to.
        boxes: x0, y0, x1, y1 of each, in pixels; the nearest region of whole pixels is cut out.
    """

    def __init__(
        self, source: ImageSource, images: Sequence[int], boxes: Sequence[Corners]
    ) -> None:
        self.source, self.images, self.boxes = source, tuple(images), tuple(boxes)

    def __len__(self) -> int:
        return len(self.images)

    def image(self, index: int) -> Cutout:
        image = self.source.image(self.images[index])
        return Cutout(image, Region.around(self.boxes[index], image.height, image.width))

    def identity(self, index: int) -> str:
        x0, y0, x1, y1 = self.boxes[index]
        return f"{self.source.identity(self.images[index])} [{x0:g}, {y0:g}, {x1:g}, {y1:g}]"

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.source.fingerprint().encode())
        digest.update(np.array(self.images, dtype=np.int64).tobytes())
        digest.update(np.array(self.boxes, dtype=np.float64).tobytes())
        return digest.hexdigest()

    def modification_times(self) -> str:
        return self.source.modification_times()
