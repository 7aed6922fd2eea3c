"""The view of an image for a task, with its boxes and mask, in training and in evaluation."""

from dataclasses import dataclass

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.augmentations.resize_shortest import ResizeShortest
from unshortcut.data.batches import Views
from unshortcut.data.source import AnnotatedImage, Image
from unshortcut.randomness import generator
from unshortcut.views.evaluation import EvaluationView


@dataclass(frozen=True)
class TrainingView:
    """One augmented view, called `image`, keyed by (seed, epoch, index).

    Boxes and mask of an annotated image go through the same augmentations.
    """

    pipeline: Pipeline
    min_visible: float = 0.25
    """Share of a box that must be inside the view for the box to be kept."""

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> Views:
        rng = generator(seed, epoch, index, "image")
        sampled = self.pipeline.sample(rng, image.height, image.width)
        view = self.pipeline.apply(image.pixels(self.pipeline.shrink(sampled)), sampled)
        regions = None
        if isinstance(image, AnnotatedImage):
            regions = self.pipeline.apply_regions(
                image.regions.trained_on(),
                sampled,
                image.height,
                image.width,
                min_visible=self.min_visible,
            )
        return Views({"image": view}, regions=regions)


@dataclass(frozen=True)
class WholeImageView:
    """The whole image, its shorter side resized: what detectors and segmenters are tested on."""

    size: int
    longest: int

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> dict[str, ImageArray]:
        """One view, called `image`, uint8 (h, w, 3); it depends on the image alone."""
        resize = ResizeShortest(sizes=(self.size,), longest=self.longest)
        pipeline = Pipeline([resize])
        sampled = pipeline.sample(generator("whole image"), image.height, image.width)
        return {"image": pipeline.apply(image.pixels(pipeline.shrink(sampled)), sampled)}


def evaluation_view(
    dense: bool, size: int, crop_share: float, longest: int | None
) -> EvaluationView | WholeImageView:
    """The view that a task is evaluated on."""
    if not dense:
        return EvaluationView(size, crop_share)
    return WholeImageView(size, longest or round(size * 5 / 3))
