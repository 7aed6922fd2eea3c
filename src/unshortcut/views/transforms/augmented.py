"""The ordinary view: a pipeline with sampled parameters of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.randomness import Rng
from unshortcut.views.transform import ViewContext, ViewTransform


@dataclass(frozen=True)
class Augmented(ViewTransform):
    """The view's pipeline, with parameters sampled independently of every other view."""

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> list[Any]:
        return pipeline.sample(rng, context.image.height, context.image.width)

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Sequence[Any]) -> ImageArray:
        return context.apply(pipeline, sampled)

    def shrink(self, pipeline: Pipeline, sampled: Sequence[Any]) -> float:
        return pipeline.shrink(sampled)
