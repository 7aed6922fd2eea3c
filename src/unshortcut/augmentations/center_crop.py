"""Crops the center of the image, for evaluation: torchvision's `CenterCrop`."""

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.regions import IGNORED, MaskArray
from unshortcut.fields import Size, ends
from unshortcut.imaging.boxes import resize_boxes
from unshortcut.imaging.geometry import crop
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class CenterCrop(Augmentation):
    """Crops a box of the given size at the center; black where the image is smaller."""

    name = "center_crop"

    size: Size = 224

    def sample(self, rng: Rng, height: int, width: int) -> None:
        """Nothing is random."""

    def apply(self, image: ImageArray, params: None) -> ImageArray:
        return crop(image, *self._box(*image.shape[:2]))

    def output_size(self, params: None, height: int, width: int) -> tuple[int, int]:
        return ends(self.size)

    def apply_boxes(self, boxes: FloatArray, params: None, height: int, width: int) -> FloatArray:
        return resize_boxes(boxes, self._box(height, width), *ends(self.size))

    def apply_mask(self, mask: MaskArray, params: None) -> MaskArray:
        return crop(mask, *self._box(*mask.shape), fill=IGNORED)

    def _box(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Top, left, height and width of the crop of an image of height × width."""
        wanted = ends(self.size)
        return _start(height, wanted[0]), _start(width, wanted[1]), *wanted


def _start(length: int, wanted: int) -> int:
    """First pixel of the box, rounded as in torchvision; negative if the image is smaller."""
    return -((wanted - length) // 2) if wanted > length else round((length - wanted) / 2)
