"""The ordinary view: the pipeline with draws of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshortcut.augmentations.augmentation import Array, Pipeline
from unshortcut.views.transform import ViewContext, ViewTransform


@dataclass(frozen=True)
class Augmented(ViewTransform):
    """All augmentations of the view's pipeline, drawn independently of every other view."""

    def draw(self, context: ViewContext, pipeline: Pipeline, rng: np.random.Generator) -> list[Any]:
        return pipeline.sample(rng, context.image.height, context.image.width)

    def make(self, context: ViewContext, pipeline: Pipeline, draws: Sequence[Any]) -> Array:
        return context.apply(pipeline, draws)

    def shrink(self, pipeline: Pipeline, draws: Sequence[Any]) -> float:
        return pipeline.shrink(draws)
