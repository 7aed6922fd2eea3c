"""The ordinary view: the pipeline with draws of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshortcut.views.augmentation import Array, Pipeline
from unshortcut.views.maker import Making, ViewMaker


@dataclass(frozen=True)
class Augmented(ViewMaker):
    """All augmentations of the view's pipeline, drawn independently of every other view."""

    def draw(self, making: Making, pipeline: Pipeline, rng: np.random.Generator) -> list[Any]:
        return pipeline.sample(rng, making.image.height, making.image.width)

    def make(self, making: Making, pipeline: Pipeline, draws: Sequence[Any]) -> Array:
        return making.apply(pipeline, draws)

    def shrink(self, pipeline: Pipeline, draws: Sequence[Any]) -> float:
        return pipeline.shrink(draws)
