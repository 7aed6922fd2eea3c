"""Images that keep the texture of an image and lose its shape, and the classes they identify."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from unshortcut.arrays import ImageArray
from unshortcut.imaging.synthesis import example_patches, synthesize_texture
from unshortcut.imaging.tiling import sample_tiles, tile_patches
from unshortcut.views.transforms.tiled import patch_range

PATCH_SHARE = 96 / 224
"""Side of the patches that a texture is made from, as a share of that of the image (Ge et al. 2021,
section 2.2)."""
SOLVED = 0.5
"""A class needs a higher accuracy on textures to be solved by them (Ge et al. 2021, figure 10)."""
ERROR = 0.05
"""Probability that any class is called solved although textures do not help."""

Classes = NDArray[np.int64]
"""Class indices (N,)."""


def texture_of(pixels: ImageArray, rng: np.random.Generator) -> ImageArray:
    """A texture with the size of a square image, made from its center and a random position."""
    side = pixels.shape[0]
    patches = example_patches(pixels, rng, max(1, round(PATCH_SHARE * side)))
    return synthesize_texture(patches, side, side, seed=int(rng.integers(2**62)))


def tiles_of(pixels: ImageArray, rng: np.random.Generator) -> ImageArray:
    """Random patches of a square image, tiled to its size."""
    side = pixels.shape[0]
    tiles = sample_tiles(rng, side, side, patch=patch_range(side), size=(side, side))
    return tile_patches(pixels, tiles)


def solved_by_texture(decided: Classes, labels: Classes, num_classes: int) -> NDArray[np.bool_]:
    """Which classes (num_classes,) texture alone identifies, given the decisions on textures.

    More than half of the textures of the class are classified correctly, and they are assigned to
    the class more often than those of other classes are: a one-sided Fisher's exact test at 5 %
    divided by the number of classes (Bonferroni). A model that predicts one class for all textures
    solves none.
    """
    solved = np.zeros(num_classes, np.bool_)
    for index in range(num_classes):
        own, named = labels == index, decided == index
        right = int((own & named).sum())
        chance = hypergeom.sf(right - 1, len(labels), int(named.sum()), int(own.sum()))
        solved[index] = right > SOLVED * own.sum() and chance < ERROR / num_classes
    return solved
