"""The texture image of an image, with the augmentations of its query (NSN, section 2.2)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.data.copies import open_copy
from unshortcut.imaging.synthesis import PATCH_SIDES, example_patches, synthesize_texture
from unshortcut.randomness import generator
from unshortcut.views.transform import ViewContext, ViewTransform


@dataclass(frozen=True)
class Textured(ViewTransform):
    """The texture image, through the augmentations of the view `of` with the sampled of that view.

    The authors restore the state of the random generator between the photograph and its texture
    image. So here: where an augmentation meets an image of the size that it met in the query (all
    of them after the crop), it takes the query's own draw; where it does not, it sampled from the
    numbers that the query's sampled came from.
    """

    has_pipeline: ClassVar[bool] = False

    of: str = "query"
    copy: str | None = None
    """The texturized copy of the data set; None: synthesized for each view anew."""
    patch: float | None = None
    """Side of the example patches, or, below 1, their share of the image's shorter side and 96
    pixels at most; None: 96 where the image allows, else 48, else its side."""

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: np.random.Generator) -> int:
        return int(rng.integers(2**62))  # the seed of the synthesis

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: int) -> ImageArray:
        texture = self._texture(context, sampled)
        query = context.pipelines[self.of]
        return query.apply(texture, self._draws(context, query, texture))

    def shrink(self, pipeline: Pipeline, sampled: int) -> float:
        return 1.0 if self.copy is None else math.inf  # a texture is that of the image in full

    def beside(self) -> tuple[str, ...]:
        return () if self.copy is None else (self.copy,)

    def _texture(self, context: ViewContext, seed: int) -> ImageArray:
        if self.copy is not None:
            return open_copy(self.copy).image(context.identity).pixels()
        rng = generator(seed)
        height, width = context.views[self.of].shape[:2]
        patches = example_patches(context.pixels(), rng, self._side(context))
        return synthesize_texture(patches, height, width, seed=int(rng.integers(2**31)))

    def _side(self, context: ViewContext) -> int | None:
        if self.patch is None or self.patch >= 1:
            return None if self.patch is None else int(self.patch)
        shorter = min(context.image.height, context.image.width)
        return max(1, min(round(self.patch * shorter), max(PATCH_SIDES)))

    def _draws(
        self, context: ViewContext, pipeline: Pipeline, texture: ImageArray
    ) -> Sequence[Any]:
        rng = context.generator(self.of)
        there = context.image.height, context.image.width
        here = texture.shape[0], texture.shape[1]
        sampled = []
        for augmentation, drawn in zip(
            pipeline.augmentations, context.sampled[self.of], strict=True
        ):
            params = drawn if here == there else augmentation.sample(rng, *here)
            there = augmentation.output_size(drawn, *there)
            here = augmentation.output_size(params, *here)
            sampled.append(params)
        return sampled
