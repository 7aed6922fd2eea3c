"""Patch tiling: tiling random patches of an image keeps its texture and removes its shape.

The patch-based negatives of "Robust Contrastive Learning Using Negative Samples with Diminished
Semantics" (section 2.3): patches of d × d pixels from random positions of the image are tiled, and
the result is cropped at its top left. d is sampled for each result.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.imaging._memory import copy_run
from unshortcut.randomness import Rng


@dataclass(frozen=True, eq=False)
class Tiles:
    """The sampled parameters of n tilings of the same size."""

    height: int
    """Height of a result in pixels."""
    width: int
    """Width of a result in pixels."""
    sides: IndexArray
    """(n,): d, the side of the patches in pixels."""
    cells: IndexArray
    """(n, rows, columns, 4): top, left, whether flipped left to right, and how often then rotated
    counterclockwise by 90 degrees. There are enough rows and columns for the smallest side; results
    with larger patches do not use the last ones."""

    def __len__(self) -> int:
        return len(self.sides)

    def __getitem__(self, index: int) -> "Tiles":
        """One tiling, as a batch of one."""
        one = slice(index, index + 1)
        return Tiles(self.height, self.width, self.sides[one], self.cells[one])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tiles)
            and (self.height, self.width) == (other.height, other.width)
            and np.array_equal(self.sides, other.sides)
            and np.array_equal(self.cells, other.cells)
        )

    def pixel_steps(self, width: int) -> IndexArray:
        """How to read the patches from the flat pixels of images that are `width` pixels wide.

        (n, rows, columns, 3): index of the pixel for a cell's top left, the step from there to the
        pixel for the one below, and the step to the pixel for the one to its right.
        """
        return np.asarray(_pixel_steps(self.cells, self.sides, width))


def sample_tiles(
    rng: Rng,
    height: int,
    width: int,
    *,
    patch: tuple[int, int] = (16, 72),
    size: tuple[int, int] = (224, 224),
    overlap: bool = True,
    flip: bool = False,
    vertical_flip: bool = False,
    rotate: bool = False,
    count: int = 1,
) -> Tiles:
    """Sample tilings of `count` images of height × width, each with its own patch size.

    Args:
        patch: range of the side d, both ends included; d is at most the image's shorter side.
        size: height and width of the results.
        overlap: sample the position of each patch independently and uniformly, as in the authors'
            code (which never samples the last row and column). If False, patches do not overlap, as
            in the paper: the image is divided into a grid of rectangles of at least d × d pixels,
            each cell of the result gets a rectangle of its own, and its patch a random position
            inside. If there are fewer rectangles than cells (as in an image as large as the result,
            unless d divides its sides), patches have to overlap; then the set of possible positions
            is divided in this way instead, so that positions differ as long as there are enough.
        flip: flip each patch left to right with probability 1/2.
        vertical_flip: flip each patch upside down with probability 1/2, independently of `flip`.
        rotate: rotate each patch by a random multiple of 90 degrees.
        count: number of tilings.
    """
    # A list, because three NumPy calls would take as long as copying an image.
    low, span, shorter = patch[0], patch[1] - patch[0] + 1, min(height, width)
    sampled = [min(low + int(number * span), shorter) for number in rng.random(count).tolist()]
    rows, columns = -(-size[0] // min(sampled)), -(-size[1] // min(sampled))
    sides = np.array(sampled, np.int64)
    cells = np.zeros((count, rows, columns, 4), np.int64)
    oriented = flip or vertical_flip or rotate
    numbers = rng.random((count, rows, columns, 2 + (not overlap) + oriented))
    if overlap:
        _sample_positions(numbers, sides, height, width, *size, cells)
    else:
        _sample_disjoint(numbers, sides, height, width, *size, cells)
    if oriented:
        orientation = (numbers[..., -1] * 16).astype(np.int64)
        inverted = orientation % 2 * vertical_flip
        # A vertical flip is a horizontal flip and a rotation by 180 degrees.
        cells[..., 2] = (orientation // 8 * flip) ^ inverted
        cells[..., 3] = (orientation // 2 % 4 * rotate + 2 * inverted) % 4
    return Tiles(*size, sides, cells)


def tile_patches(image: ImageArray, tiles: Tiles) -> ImageArray:
    """Tile one uint8 (h, w, 3) image; `tiles` must contain one tiling."""
    if len(tiles) != 1:
        raise ValueError(f"tiles must contain one tiling, not {len(tiles)}")
    out = np.empty((tiles.height, tiles.width, 3), np.uint8)
    source = np.ascontiguousarray(image)[None]
    copy_tiles(source, tiles.sides, tiles.cells, out[None])
    return out


_compiled = njit(cache=True, nogil=True)
_CACHE = 1 << 18
"""Number of bytes that fit into any second-level cache."""


@_compiled
def copy_tiles(images, sides, cells, out):  # type: ignore[no-untyped-def]
    """Fill `out` (n, H, W, k) with the tilings of `images` (n, h, w, k), both contiguous.

    Images may also be given as single planes, k = 1: then m consecutive planes share each of the n
    tilings. The return value has no meaning.
    """
    planes = images.shape[0] // sides.size
    image_width, samples = images.shape[2:]
    height, width = out.shape[1:3]
    size = images.shape[1] * image_width * samples
    source, target = images.reshape(-1), out.reshape(-1)
    pixel_steps = np.empty((3, width), np.int64)
    touched = 0
    for plane in range(images.shape[0]):
        n = plane // planes
        side = sides[n]
        if size * source.itemsize <= _CACHE:
            # Reading the image sequentially loads it into the cache faster than reading patches.
            for i in range(plane * size, (plane + 1) * size, 64 // source.itemsize):
                touched += source[i]
        write = plane * height * width * samples
        for row in range(height):
            if row % side == 0:
                for column in range(-(-width // side)):
                    cell = cells[n, row // side, column]
                    pixel_steps[:, column] = _patch_steps(cell, side, image_width)
                    pixel_steps[0, column] += plane * size // samples
            for column in range(-(-width // side)):
                start, _, across = pixel_steps[:, column]
                length = min(side, width - column * side)
                if across == 1:
                    copy_run(target, write, source, start * samples, length * samples)
                else:
                    _copy_pixels(target, write, source, start, across, length, samples)
                pixel_steps[0, column] += pixel_steps[1, column]
                write += length * samples
    return touched


@_compiled
def _copy_pixels(target, write, source, start, across, length, samples):  # type: ignore[no-untyped-def]
    """Copy pixels `across` apart; unsigned indices avoid the check for negative ones."""
    for i in range(length):
        for k in range(samples):
            read = (start + i * across) * samples + k
            target[np.uint64(write + i * samples + k)] = source[np.uint64(read)]


@_compiled
def _sample_positions(numbers, sides, height, width, out_height, out_width, cells):  # type: ignore[no-untyped-def]
    """Uniform positions inside the image."""
    for n in range(sides.size):
        side = sides[n]
        for row in range(-(-out_height // side)):
            for column in range(-(-out_width // side)):
                position, number = cells[n, row, column], numbers[n, row, column]
                position[0] = int(number[0] * (height - side + 1))
                position[1] = int(number[1] * (width - side + 1))


@_compiled
def _sample_disjoint(numbers, sides, height, width, out_height, out_width, cells):  # type: ignore[no-untyped-def]
    """Positions of disjoint patches, or distinct positions; see `sample_tiles`."""
    for n in range(sides.size):
        side = sides[n]
        rows, columns = -(-out_height // side), -(-out_width // side)
        wanted = rows * columns
        grid_rows, grid_columns = height // side, width // side
        fit = grid_rows * grid_columns >= wanted
        if not fit:
            grid_rows = min(rows, height - side + 1)
            grid_columns = min(-(-wanted // grid_rows), width - side + 1)
            grid_rows = min(-(-wanted // grid_columns), height - side + 1)
        # The first `wanted` elements of a random permutation, which repeats if it is shorter.
        order = np.arange(grid_rows * grid_columns)
        for cell in range(wanted):
            row, column = cell // columns, cell % columns
            position, number = cells[n, row, column], numbers[n, row, column]
            here = cell % order.size
            there = here + int(number[2] * (order.size - here))
            order[here], order[there] = order[there], order[here]
            down, across = order[here] // grid_columns, order[here] % grid_columns
            position[0] = _in_strip(down, grid_rows, height, side, fit, number[0])
            position[1] = _in_strip(across, grid_columns, width, side, fit, number[1])


@_compiled
def _in_strip(strip, strips, length, side, fit, number):  # type: ignore[no-untyped-def]
    """A position in a strip of the image if patches fit, otherwise in a strip of all positions."""
    whole, need = (length, side) if fit else (length - side + 1, 1)
    first, last = strip * whole // strips, (strip + 1) * whole // strips - need
    return first + int(number * (last - first + 1))


@_compiled
def _pixel_steps(cells, sides, width):  # type: ignore[no-untyped-def]
    """See `Tiles.pixel_steps`."""
    out = np.empty((*cells.shape[:3], 3), np.int64)
    for n in range(cells.shape[0]):
        for row in range(cells.shape[1]):
            for column in range(cells.shape[2]):
                walk = _patch_steps(cells[n, row, column], sides[n], width)
                for k in range(3):
                    out[n, row, column, k] = walk[k]
    return out


@_compiled
def _patch_steps(cell, side, width):  # type: ignore[no-untyped-def]
    """`np.rot90(np.fliplr(patch), rotations)` as a first pixel and steps down and across."""
    top, left, flipped, rotations = cell
    end = side - 1
    # Without the flip: the position in the patch of the result's top left, and the steps from it.
    if rotations == 0:
        y, x, down, across = 0, 0, (1, 0), (0, 1)
    elif rotations == 1:
        y, x, down, across = 0, end, (0, -1), (1, 0)
    elif rotations == 2:
        y, x, down, across = end, end, (-1, 0), (0, -1)
    else:
        y, x, down, across = end, 0, (0, 1), (-1, 0)
    sign = 1
    if flipped:
        x, sign = end - x, -1
    start = (top + y) * width + left + x
    return start, down[0] * width + sign * down[1], across[0] * width + sign * across[1]
