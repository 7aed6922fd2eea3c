"""Images that are stored in blocks, and an order of an epoch that reads a few blocks at a time.

An image in a Parquet file is read together with its row group. A plain permutation would read a
whole row group for every image.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unshortcut.arrays import IndexArray

WINDOW_BYTES = 1 << 28
"""Size of the blocks whose images are shuffled together, and of the cache of a process."""


@dataclass(frozen=True)
class Blocks:
    """The block of each image of a source, and the sizes of the blocks."""

    numbers: IndexArray
    """(N,): the block of each image."""
    sizes: IndexArray
    """(B,): bytes of each block in memory."""

    def take(self, indices: IndexArray) -> "Blocks":
        """The blocks of some images."""
        return Blocks(self.numbers[indices], self.sizes)

    def order(self, rng: np.random.Generator) -> IndexArray:
        """A permutation of the images that visits the blocks in windows.

        The blocks are shuffled and cut into windows of at most `WINDOW_BYTES`, or of one block that
        is larger; then the images of each window are shuffled. If everything fits into one window,
        it is a plain permutation.
        """
        count = len(self.numbers)
        present = np.unique(self.numbers)
        if self.sizes[present].sum() <= WINDOW_BYTES:
            return rng.permutation(count)
        blocks = rng.permutation(present)
        window = np.zeros(len(self.sizes), dtype=np.int64)
        number, filled = 0, 0
        for block, size in zip(blocks.tolist(), self.sizes[blocks].tolist(), strict=True):
            if filled and filled + size > WINDOW_BYTES:
                number, filled = number + 1, 0
            window[block], filled = number, filled + size
        return np.lexsort((rng.permutation(count), window[self.numbers]))


def join_blocks(parts: Sequence[tuple[Blocks | None, int]]) -> Blocks | None:
    """The blocks of joined sources, each given with its number of images; None if none has any.

    The images of a source without blocks are blocks of their own, of no size.
    """
    if all(blocks is None for blocks, _ in parts):
        return None
    numbers, sizes, before = [], [], 0
    for blocks, count in parts:
        part = blocks or Blocks(np.arange(count), np.zeros(count, dtype=np.int64))
        numbers.append(part.numbers + before)
        sizes.append(part.sizes)
        before += len(part.sizes)
    return Blocks(np.concatenate(numbers), np.concatenate(sizes))
