"""Patch shuffle: permuting the patches of a grid removes shape and keeps local detail."""

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.randomness import Rng


def shuffle_patches(image: ImageArray, grid: int, rng: Rng) -> ImageArray:
    """Shuffle the grid × grid equal patches of a uint8 (h, w, 3) image.

    If the grid does not divide a side, the remaining pixels stay where they are, half of them at
    each end. The permutation is one random cycle, so that no patch keeps its position; a grid of 1
    returns a copy.
    """
    if not 1 <= grid <= min(image.shape[:2]):
        raise ValueError(
            f"a grid of {grid} × {grid} patches does not fit into {image.shape[:2]} pixels"
        )
    height, width = image.shape[0] // grid, image.shape[1] // grid
    top, left = (image.shape[0] - grid * height) // 2, (image.shape[1] - grid * width) // 2
    inside = slice(top, top + grid * height), slice(left, left + grid * width)
    patches = image[inside].reshape(grid, height, grid, width, 3).swapaxes(1, 2)
    patches = patches.reshape(grid * grid, height, width, 3)
    order = rng.permutation(grid * grid)
    moved = np.empty_like(patches)
    moved[order] = patches[np.roll(order, 1)]
    rows = moved.reshape(grid, grid, height, width, 3).swapaxes(1, 2)
    out = image.copy()
    out[inside] = rows.reshape(grid * height, grid * width, 3)
    return out
