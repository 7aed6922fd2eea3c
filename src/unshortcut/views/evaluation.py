"""The views of a frozen encoder: cropped at the center or whole, nothing random."""

from dataclasses import dataclass

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.augmentations.center_crop import CenterCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.data.source import Image


@dataclass(frozen=True)
class WholeView:
    """All of the image, squeezed to `size` × `size`; one of that size is left as it is."""

    size: int

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`; the key plays no part."""
        if (image.height, image.width) == (self.size, self.size):
            return {"image": image.pixels()}
        pipeline = Pipeline([Resize((self.size, self.size))])
        sampled = pipeline.sample(None, image.height, image.width)  # type: ignore[arg-type]
        return {"image": pipeline.apply(image.pixels(pipeline.shrink(sampled)), sampled)}


@dataclass(frozen=True)
class EvaluationView:
    """Shorter side to `size / crop_share`, then the center `size` × `size`."""

    size: int
    crop_share: float = 0.875

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`; the key plays no part."""
        pipeline = Pipeline([Resize(round(self.size / self.crop_share)), CenterCrop(self.size)])
        sampled = pipeline.sample(None, image.height, image.width)  # type: ignore[arg-type]
        return {"image": pipeline.apply(image.pixels(pipeline.shrink(sampled)), sampled)}
