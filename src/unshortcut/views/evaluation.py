"""Views for evaluation: the center crop, the whole image, or random crops to train on."""

from dataclasses import dataclass
from typing import Protocol

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.augmentations.center_crop import CenterCrop
from unshortcut.augmentations.horizontal_flip import HorizontalFlip
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.data.rotated import RotatedImage
from unshortcut.data.source import Image
from unshortcut.imaging.geometry import rotate90
from unshortcut.randomness import generator


class View(Protocol):
    """What all views of this file have in common."""

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`, uint8 (size, size, 3)."""
        ...


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
    """The shorter side is resized to `size / crop_share`; then the center is cropped.

    With `stretch`, both sides are resized to that, whatever the aspect ratio.
    """

    size: int
    crop_share: float = 0.875
    stretch: bool = False

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`; it depends on the image alone."""
        shorter = round(self.size / self.crop_share)
        resize = Resize((shorter, shorter) if self.stretch else shorter)
        return {"image": _apply(image, resize, CenterCrop(self.size))}


@dataclass(frozen=True)
class RandomCropView:
    """A random resized crop, flipped half of the time: what papers fit linear classifiers on.

    An image that is rotated by quarter turns is flipped before it is rotated; a flip afterwards
    would turn 90 degrees into 270.
    """

    size: int
    scale: tuple[float, float] = (0.08, 1.0)

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`; (seed, epoch, index) is the key of its parameters."""
        if isinstance(image, RotatedImage):
            upright = self(image.upright, seed, epoch, index)["image"]
            return {"image": rotate90(upright, image.quarter_turns)}
        pipeline = Pipeline([RandomResizedCrop(self.size, self.scale), HorizontalFlip()])
        rng = generator("random crop view", seed, epoch, index)
        params = pipeline.sample(rng, image.height, image.width)
        return {"image": pipeline.apply(image.pixels(pipeline.shrink(params)), params)}


def _apply(image: Image, *augmentations: Augmentation) -> ImageArray:
    """Apply augmentations that sample nothing, and decode no more than they need."""
    pipeline = Pipeline(augmentations)
    params = pipeline.sample(None, image.height, image.width)  # type: ignore[arg-type]
    return pipeline.apply(image.pixels(pipeline.shrink(params)), params)
