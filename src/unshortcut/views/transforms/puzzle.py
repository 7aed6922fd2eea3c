"""The tiles of a jigsaw puzzle, in their places (Noroozi and Favaro; dissertation, section 2.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline, requested_variant
from unshortcut.augmentations.random_crop import RandomCrop
from unshortcut.errors import UsageError
from unshortcut.fields import ends
from unshortcut.randomness import Rng, generator
from unshortcut.views.transform import ViewContext, ViewTransform

Sampled = tuple[list[Any], list[list[Any]]]
"""Parameters of the view's augmentations, and of those of each tile."""


@dataclass(frozen=True)
class Puzzle(ViewTransform):
    """The view's own augmentations, then a tile from each of grid × grid cells, row by row.

    A tile is its cell after `tile_augmentations`, with parameters of its own: a crop at a random
    place leaves gaps between tiles, so that edges do not continue from one to the next. `from_copy`
    among them takes single tiles from the copy of the image. The tiles form one image;
    `models.heads.cut` separates them again. They are not shuffled: that is left to the method.
    """

    grid: int = 3
    tile_augmentations: tuple[Augmentation, ...] = ()

    @property
    def own_augmentations(self) -> Sequence[Augmentation]:
        return self.tile_augmentations

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> Sampled:
        height, width = context.image.height, context.image.width
        sampled = pipeline.sample(rng, height, width)
        cell = self._cell(*pipeline.output_size(sampled, height, width))
        tile = Pipeline(self.tile_augmentations)
        return sampled, [tile.sample(rng, *cell) for _ in range(self.grid**2)]

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Sampled) -> ImageArray:
        whole, of_tiles = sampled
        variants = [requested_variant(params) for params in of_tiles]
        images = {name: context.apply(pipeline, whole, name) for name in dict.fromkeys(variants)}
        tiles = [
            self._tile(images[variant], number, params)
            for number, (variant, params) in enumerate(zip(variants, of_tiles, strict=True))
        ]
        rows = [np.hstack(tiles[i : i + self.grid]) for i in range(0, len(tiles), self.grid)]
        return np.vstack(rows)

    def shrink(self, pipeline: Pipeline, sampled: Sampled) -> float:
        return pipeline.shrink(sampled[0])

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        augmentations = Pipeline(self.tile_augmentations).augmentations  # each is checked
        sizes = {_view_size(pipelines[view], *size) for size in ((97, 131), (640, 512))}
        if len(sizes) > 1:
            return  # that of the images, which is not known yet
        (size,) = sizes
        tile = cell = self._cell(*size)
        for augmentation in augmentations:
            if isinstance(augmentation, RandomCrop):
                cut = ends(augmentation.size)
                if cut[0] > tile[0] or cut[1] > tile[1]:
                    raise UsageError(
                        f"the view '{view}': tiles of {cut[0]} × {cut[1]} pixels do not fit into "
                        f"the cells of {cell[0]} × {cell[1]} that a view of {size[0]} × {size[1]} "
                        f"has in a grid of {self.grid} × {self.grid}"
                    )
            tile = augmentation.output_size(augmentation.sample(generator(0), *tile), *tile)

    def _cell(self, height: int, width: int) -> tuple[int, int]:
        return height // self.grid, width // self.grid

    def _tile(self, image: ImageArray, number: int, params: Sequence[Any]) -> ImageArray:
        height, width = self._cell(*image.shape[:2])
        row, column = divmod(number, self.grid)
        top, left = row * height, column * width
        cell = image[top : top + height, left : left + width]
        return Pipeline(self.tile_augmentations).apply(cell, params)


def _view_size(pipeline: Pipeline, height: int, width: int) -> tuple[int, int]:
    """The size of the view of an image of height × width."""
    return pipeline.output_size(pipeline.sample(generator(0), height, width), height, width)
