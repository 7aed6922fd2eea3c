"""The view of a frozen encoder: resized, cropped at the centre, nothing random."""

from dataclasses import dataclass

from unshortcut.data.source import Image
from unshortcut.views.augmentation import Array, Pipeline
from unshortcut.views.augmentations.center_crop import CenterCrop
from unshortcut.views.augmentations.resize import Resize


@dataclass(frozen=True)
class EvaluationView:
    """Shorter side to `size / crop_share`, then the centre `size` × `size`."""

    size: int
    crop_share: float = 0.875

    def __call__(
        self, image: Image, identity: str, seed: int, epoch: int, index: int
    ) -> dict[str, Array]:
        """One view, called `image`; the key plays no part."""
        pipeline = Pipeline([Resize(round(self.size / self.crop_share)), CenterCrop(self.size)])
        draws = pipeline.sample(None, image.height, image.width)  # type: ignore[arg-type]
        return {"image": pipeline.apply(image.pixels(pipeline.shrink(draws)), draws)}
