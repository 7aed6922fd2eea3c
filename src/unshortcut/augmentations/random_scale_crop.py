"""Scales the image at random and crops a box of fixed size, for segmentation."""

from typing import Annotated, Literal, NamedTuple

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import IGNORED, MaskArray
from unshortcut.fields import Allowed, Pair, Size, ends, in_order
from unshortcut.imaging.boxes import resize_boxes
from unshortcut.imaging.geometry import (
    Box,
    allowed_shrink,
    box_in_smaller,
    crop,
    resize_box,
    resize_mask_box,
)
from unshortcut.parts import settings
from unshortcut.randomness import Rng

_TINY = 1e-3

Base = Annotated[
    int | Literal["size"],
    Allowed("an integer of at least 1, or size", lambda base: base == "size" or base >= 1),
]


class ScaledCrop(NamedTuple):
    """The part of the full image that is seen, its size in the result, and the image's size."""

    box: Box
    """In pixels of the full image."""
    height: int
    width: int
    full_height: int
    full_width: int


@settings
class RandomScaleCrop(Augmentation):
    """Scales the image by a random factor, keeping its aspect ratio, and crops it to `size`.

    Where the scaled image is smaller than the crop, it is padded at the bottom and at the right,
    with black, and its mask with `IGNORED`.
    """

    name = "random_scale_crop"

    size: Size = 512
    """Size of the result in pixels: the side of a square, or height and width."""
    ratio: Annotated[Pair, in_order(_TINY)] = (0.5, 2.0)
    """Range of the factor, sampled uniformly."""
    base: Base | None = None
    """Length of the shorter side that a factor of 1 stands for; `size` for the shorter side of the
    result, None for that of the image."""

    def sample(self, rng: Rng, height: int, width: int) -> ScaledCrop:
        factor = rng.uniform(*self.ratio)
        if self.base is not None:
            base = min(ends(self.size)) if self.base == "size" else self.base
            factor *= base / min(height, width)
        top, crop_height, seen_height = _span(rng, height, factor, ends(self.size)[0])
        left, crop_width, seen_width = _span(rng, width, factor, ends(self.size)[1])
        box = (top, left, seen_height, seen_width)
        return ScaledCrop(box, crop_height, crop_width, height, width)

    def apply(self, image: ImageArray, params: ScaledCrop) -> ImageArray:
        box = box_in_smaller(params.box, params.full_height, params.full_width, image)
        seen = resize_box(image, box, params.height, params.width)
        return crop(seen, 0, 0, *ends(self.size))

    def output_size(self, params: ScaledCrop, height: int, width: int) -> tuple[int, int]:
        return ends(self.size)

    def apply_boxes(
        self, boxes: FloatArray, params: ScaledCrop, height: int, width: int
    ) -> FloatArray:
        return resize_boxes(boxes, params.box, params.height, params.width)

    def apply_mask(self, mask: MaskArray, params: ScaledCrop) -> MaskArray:
        seen = resize_mask_box(mask, params.box, params.height, params.width)
        return crop(seen, 0, 0, *ends(self.size), fill=IGNORED)

    def shrink(self, params: ScaledCrop) -> float:
        _, _, height, width = params.box
        return allowed_shrink(height, width, params.height, params.width)


def _span(rng: Rng, length: int, factor: float, wanted: int) -> tuple[float, int, float]:
    """Where the crop starts on one side of the image, its length scaled, and in the image."""
    scaled = max(1, round(length * factor))
    seen = min(scaled, wanted)
    start = int(rng.integers(scaled - seen + 1))
    return start * length / scaled, seen, seen * length / scaled
