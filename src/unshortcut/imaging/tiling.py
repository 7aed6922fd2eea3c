"""Patch tiling: an image's patches laid out anew, so that its texture stays and its shape is gone.

The patch-based negatives of "Robust Contrastive Learning Using Negative Samples with Diminished
Semantics" (section 2.3): patches of d × d pixels from random places of the image are tiled, and
the top left of the tiling is kept. d is drawn for each result anew.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.imaging._memory import copy_run


@dataclass(frozen=True, eq=False)
class Tiles:
    """Where the patches of n results come from, all results of one size."""

    height: int
    """Of a result, as `width`, in pixels."""
    width: int
    sides: NDArray[np.int64]
    """(n,): d, the side of the patches in pixels."""
    cells: NDArray[np.int64]
    """(n, rows, columns, 4): top, left, whether flipped left to right, and the quarter turns
    counterclockwise after that. Rows and columns are enough for the smallest side; the results with
    larger patches leave those at the end unused."""

    def __len__(self) -> int:
        return len(self.sides)

    def __getitem__(self, index: int) -> "Tiles":
        """One of the results, as a batch of one."""
        one = slice(index, index + 1)
        return Tiles(self.height, self.width, self.sides[one], self.cells[one])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tiles)
            and (self.height, self.width) == (other.height, other.width)
            and np.array_equal(self.sides, other.sides)
            and np.array_equal(self.cells, other.cells)
        )

    def walks(self, width: int) -> NDArray[np.int64]:
        """How to read the patches from images `width` pixels wide, whose pixels are numbered.

        (n, rows, columns, 3): number of the pixel that comes to a cell's top left, the step from
        there to the pixel below it, and the step to the one on its right.
        """
        return np.asarray(_walks(self.cells, self.sides, width))


def sample_tiles(
    rng: np.random.Generator,
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
    """Draw the tiles of `count` images of height × width, each with a side of its own.

    Args:
        patch: range of the side d, both ends included; d is never more than the image's sides.
        size: height and width of the results.
        overlap: every patch comes from a place of its own, uniform over all that lie inside the
            image, as in the authors' code (which never draws the last row and column). Without it,
            the patches of a result are kept apart, as in the paper. Where as many patches as there
            are cells fit side by side, the image is cut into as many strips of d pixels or more as
            it holds, both ways, and each cell gets a rectangle of its own from that grid, and its
            patch a random place in the rectangle. Where they do not fit (an image as large as the
            result, unless d divides its sides), they have to overlap: then not the image but the
            places that a patch can have are cut in such a way, so that no two patches have the
            same place as long as there are places enough.
        flip: flip each patch left to right, or not, at random.
        vertical_flip: flip each patch upside down, or not, at random, whatever `flip` does.
        rotate: turn each patch by 0 to 3 quarters at random.
    """
    # One list instead of three calls of NumPy, which cost as much as the copying of an image.
    low, span, shorter = patch[0], patch[1] - patch[0] + 1, min(height, width)
    drawn = [min(low + int(number * span), shorter) for number in rng.random(count).tolist()]
    rows, columns = -(-size[0] // min(drawn)), -(-size[1] // min(drawn))
    sides = np.array(drawn, np.int64)
    cells = np.zeros((count, rows, columns, 4), np.int64)
    oriented = flip or vertical_flip or rotate
    numbers = rng.random((count, rows, columns, 2 + (not overlap) + oriented))
    if overlap:
        _place(numbers, sides, height, width, *size, cells)
    else:
        _place_apart(numbers, sides, height, width, *size, cells)
    if oriented:
        orientation = (numbers[..., -1] * 16).astype(np.int64)
        upset = orientation % 2 * vertical_flip
        # Upside down is left to right and half a turn.
        cells[..., 2] = (orientation // 8 * flip) ^ upset
        cells[..., 3] = (orientation // 2 % 4 * rotate + 2 * upset) % 4
    return Tiles(*size, sides, cells)


def tile_patches(image: ImageArray, tiles: Tiles) -> ImageArray:
    """The tiling of one uint8 (h, w, 3) image; `tiles` are those of a batch of one."""
    if len(tiles) != 1:
        raise ValueError(f"one image has one tiling, not {len(tiles)}")
    out = np.empty((tiles.height, tiles.width, 3), np.uint8)
    source = np.ascontiguousarray(image)[None]
    copy_tiles(source, tiles.sides, tiles.cells, out[None])
    return out


_compiled = njit(cache=True, nogil=True)
_CACHE = 1 << 18
"""Bytes that surely fit the second-level cache."""


@_compiled
def copy_tiles(images, sides, cells, out):  # type: ignore[no-untyped-def]
    """Fill `out` (n, H, W, k) with the tilings of `images` (n, h, w, k), both contiguous.

    One plane of an image may stand for an image: then there are m planes to each of the n tilings,
    one after the other, and k is 1. Returns nothing of use.
    """
    planes = images.shape[0] // sides.size
    image_width, samples = images.shape[2:]
    height, width = out.shape[1:3]
    size = images.shape[1] * image_width * samples
    source, target = images.reshape(-1), out.reshape(-1)
    walks = np.empty((3, width), np.int64)
    touched = 0
    for plane in range(images.shape[0]):
        n = plane // planes
        side = sides[n]
        if size * source.itemsize <= _CACHE:
            # From end to end the image comes into the cache faster than by patches.
            for i in range(plane * size, (plane + 1) * size, 64 // source.itemsize):
                touched += source[i]
        write = plane * height * width * samples
        for row in range(height):
            if row % side == 0:
                for column in range(-(-width // side)):
                    cell = cells[n, row // side, column]
                    walks[:, column] = _walk(cell, side, image_width)
                    walks[0, column] += plane * size // samples
            for column in range(-(-width // side)):
                start, _, across = walks[:, column]
                length = min(side, width - column * side)
                if across == 1:
                    copy_run(target, write, source, start * samples, length * samples)
                else:
                    _copy_pixels(target, write, source, start, across, length, samples)
                walks[0, column] += walks[1, column]
                write += length * samples
    return touched


@_compiled
def _copy_pixels(target, write, source, start, across, length, samples):  # type: ignore[no-untyped-def]
    """Pixels `across` apart, one by one; unsigned indices, which cannot count from the end."""
    for i in range(length):
        for k in range(samples):
            read = (start + i * across) * samples + k
            target[np.uint64(write + i * samples + k)] = source[np.uint64(read)]


@_compiled
def _place(numbers, sides, height, width, out_height, out_width, cells):  # type: ignore[no-untyped-def]
    """Uniform places inside the image."""
    for n in range(sides.size):
        side = sides[n]
        for row in range(-(-out_height // side)):
            for column in range(-(-out_width // side)):
                place, number = cells[n, row, column], numbers[n, row, column]
                place[0] = int(number[0] * (height - side + 1))
                place[1] = int(number[1] * (width - side + 1))


@_compiled
def _place_apart(numbers, sides, height, width, out_height, out_width, cells):  # type: ignore[no-untyped-def]
    """Places apart from each other, or distinct: see `sample_tiles`."""
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
        # The first `wanted` of a random order, which starts again where there are fewer.
        order = np.arange(grid_rows * grid_columns)
        for cell in range(wanted):
            row, column = cell // columns, cell % columns
            place, number = cells[n, row, column], numbers[n, row, column]
            here = cell % order.size
            there = here + int(number[2] * (order.size - here))
            order[here], order[there] = order[there], order[here]
            down, across = order[here] // grid_columns, order[here] % grid_columns
            place[0] = _in_strip(down, grid_rows, height, side, fit, number[0])
            place[1] = _in_strip(across, grid_columns, width, side, fit, number[1])


@_compiled
def _in_strip(strip, strips, length, side, fit, number):  # type: ignore[no-untyped-def]
    """A place in a strip of the image where patches fit, else in a strip of all places."""
    whole, need = (length, side) if fit else (length - side + 1, 1)
    first, last = strip * whole // strips, (strip + 1) * whole // strips - need
    return first + int(number * (last - first + 1))


@_compiled
def _walks(cells, sides, width):  # type: ignore[no-untyped-def]
    """See `Tiles.walks`."""
    out = np.empty((*cells.shape[:3], 3), np.int64)
    for n in range(cells.shape[0]):
        for row in range(cells.shape[1]):
            for column in range(cells.shape[2]):
                walk = _walk(cells[n, row, column], sides[n], width)
                for k in range(3):
                    out[n, row, column, k] = walk[k]
    return out


@_compiled
def _walk(cell, side, width):  # type: ignore[no-untyped-def]
    """What `np.rot90(np.fliplr(patch), turns)` does, as a first pixel and steps down and across."""
    top, left, flipped, turns = cell
    end = side - 1
    # Before the flip: the place in the patch of the result's top left, and the steps from there.
    if turns == 0:
        y, x, down, across = 0, 0, (1, 0), (0, 1)
    elif turns == 1:
        y, x, down, across = 0, end, (0, -1), (1, 0)
    elif turns == 2:
        y, x, down, across = end, end, (-1, 0), (0, -1)
    else:
        y, x, down, across = end, 0, (0, 1), (-1, 0)
    sign = 1
    if flipped:
        x, sign = end - x, -1
    start = (top + y) * width + left + x
    return start, down[0] * width + sign * down[1], across[0] * width + sign * across[1]
