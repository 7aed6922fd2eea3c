"""A region of an image as an image of its own, cut out of pixels that are decoded once."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from unshortcut.arrays import ImageArray
from unshortcut.data.source import Image
from unshortcut.imaging.geometry import box_in_smaller
from unshortcut.imaging.object_boxes import Corners
from unshortcut.views.transform import ViewContext


class Region(NamedTuple):
    """A part of an image in whole pixels of the full image."""

    top: int
    left: int
    height: int
    width: int

    @classmethod
    def around(cls, box: Corners, height: int, width: int) -> "Region":
        """The region nearest to a box, of at least one pixel inside an image of height × width."""
        x0, y0, x1, y1 = box
        left, top = min(max(round(x0), 0), width - 1), min(max(round(y0), 0), height - 1)
        right, bottom = min(max(round(x1), left + 1), width), min(max(round(y1), top + 1), height)
        return cls(top, left, bottom - top, right - left)


@dataclass(frozen=True)
class RegionImage:
    """A region of the image of a view context."""

    whole: ViewContext
    region: Region
    of_variant: str | None = None

    @property
    def height(self) -> int:
        return self.region.height

    @property
    def width(self) -> int:
        return self.region.width

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        """The region as it is decoded for all views; `shrink` is that of the whole image."""
        array = self.whole.pixels(self.of_variant)
        image = self.whole.image
        top, left, height, width = box_in_smaller(self.region, image.height, image.width, array)
        # As many pixels as a decoder would give for an image of this size.
        first_row, first_column = start(top, array.shape[0]), start(left, array.shape[1])
        return array[first_row:, first_column:][: math.ceil(height), : math.ceil(width)]

    def variant(self, name: str) -> Image:
        """The same region of a variant; a variant of another size, such as a texture, is whole."""
        variant = self.whole.variant(name)
        image = self.whole.image
        if (variant.height, variant.width) != (image.height, image.width):
            return variant
        return RegionImage(self.whole, self.region, name)


def start(position: float, end: int) -> int:
    """The first whole pixel of a region that begins at a position, of an image with `end`."""
    return min(round(position), end - 1)
