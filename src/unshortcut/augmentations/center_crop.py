"""Crops the center of the image, for evaluation: torchvision's `CenterCrop`."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Size, ends
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
        height, width = ends(self.size)
        return crop(
            image, _start(image.shape[0], height), _start(image.shape[1], width), height, width
        )

    def output_size(self, params: None, height: int, width: int) -> tuple[int, int]:
        return ends(self.size)


def _start(length: int, wanted: int) -> int:
    """First pixel of the box, rounded as in torchvision; negative if the image is smaller."""
    return -((wanted - length) // 2) if wanted > length else round((length - wanted) / 2)
