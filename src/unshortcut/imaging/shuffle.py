"""Patch shuffle: the patches of a grid change places, so that shape is gone and detail stays."""

import numpy as np

from unshortcut.arrays import ImageArray


def shuffle_patches(image: ImageArray, grid: int, rng: np.random.Generator) -> ImageArray:
    """A uint8 (h, w, 3) image whose grid × grid equal patches have changed places, every one.

    Where the grid does not divide a side, the pixels that are over stay where they are, half of
    them at each end. The patches go round in one random cycle, so that none keeps its place; a grid
    of 1 gives a copy.
    """
    if not 1 <= grid <= min(image.shape[:2]):
        raise ValueError(f"there is no grid of {grid} × {grid} patches in {image.shape[:2]} pixels")
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
