"""Texture-based negatives: the texture of an image, augmented like its query.

Section 2.2 of "Robust Contrastive Learning Using Negative Samples with Diminished Semantics".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.imaging.synthesis import PATCH_SIDES, example_patches, synthesize_texture
from unshortcut.randomness import Rng, generator
from unshortcut.views.transform import ViewContext, ViewTransform


@dataclass(frozen=True)
class Textured(ViewTransform):
    """The texture image, with the augmentations and the sampled parameters of the view `of`.

    The authors restore the state of the random generator between the photograph and its texture
    image. Likewise, an augmentation that sees an image of the same size as in the query (after
    the crop, all of them do) takes the query's parameters; otherwise its parameters are sampled
    anew from the generator of the query.
    """

    has_pipeline: ClassVar[bool] = False

    of: str = "query"
    copy: str | None = None
    """The texturized copy of the data set; None synthesizes a new texture for each view."""
    patch: float | None = None
    """Side of the example patches in pixels; below 1, relative to the image's shorter side, with
    at most 96 pixels; None: 96 if the image is large enough, else 48, else the image's side."""

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> int:
        return int(rng.integers(2**62))  # the seed of the synthesis

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: int) -> ImageArray:
        texture = self._texture(context, sampled)
        query = context.pipelines[self.of]
        return query.apply(texture, self._sampled(context, query, texture))

    def shrink(self, pipeline: Pipeline, sampled: int) -> float:
        return 1.0 if self.copy is None else math.inf  # textures are synthesized at full resolution

    def _texture(self, context: ViewContext, seed: int) -> ImageArray:
        if self.copy is not None:
            return context.variant(self.copy).pixels()
        rng = generator(seed)
        height, width = context.views[self.of].shape[:2]
        patches = example_patches(context.pixels(), rng, self._side(context))
        return synthesize_texture(patches, height, width, seed=int(rng.integers(2**31)))

    def _side(self, context: ViewContext) -> int | None:
        if self.patch is None or self.patch >= 1:
            return None if self.patch is None else int(self.patch)
        shorter = min(context.image.height, context.image.width)
        return max(1, min(round(self.patch * shorter), max(PATCH_SIDES)))

    def _sampled(
        self, context: ViewContext, pipeline: Pipeline, texture: ImageArray
    ) -> Sequence[Any]:
        rng = context.generator(self.of)
        query_size = context.image.height, context.image.width
        size = texture.shape[0], texture.shape[1]
        sampled = []
        for augmentation, query_params in zip(
            pipeline.augmentations, context.sampled[self.of], strict=True
        ):
            params = query_params if size == query_size else augmentation.sample(rng, *size)
            query_size = augmentation.output_size(query_params, *query_size)
            size = augmentation.output_size(params, *size)
            sampled.append(params)
        return sampled
