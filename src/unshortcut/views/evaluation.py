"""Deterministic views for evaluation: the center crop, or the whole image."""

from dataclasses import dataclass

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.augmentations.center_crop import CenterCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.data.source import Image


@dataclass(frozen=True)
class WholeView:
    """The whole image, resized to `size` × `size`; an image of that size is left as it is."""

    size: int

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`; it depends on the image alone."""
        if (image.height, image.width) == (self.size, self.size):
            return {"image": image.pixels()}
        return {"image": _apply(image, Resize((self.size, self.size)))}


@dataclass(frozen=True)
class EvaluationView:
    """The shorter side is resized to `size / crop_share`; then the center is cropped."""

    size: int
    crop_share: float = 0.875

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`; it depends on the image alone."""
        shorter = round(self.size / self.crop_share)
        return {"image": _apply(image, Resize(shorter), CenterCrop(self.size))}


def _apply(image: Image, *augmentations: Augmentation) -> ImageArray:
    """Apply augmentations that sample nothing, and decode no more than they need."""
    pipeline = Pipeline(augmentations)
    params = pipeline.sample(None, image.height, image.width)  # type: ignore[arg-type]
    return pipeline.apply(image.pixels(pipeline.shrink(params)), params)
