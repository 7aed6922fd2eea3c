"""The permutations of a jigsaw puzzle as a small file: chosen once and cached, or a user's own."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.files import atomic_open, cache_folder
from unshortcut.imaging.permutations import Selection, choose_permutations

_VERSION = 1  # raised when the same settings would give other permutations


def cached_permutations(
    elements: int, count: int, *, by: Selection = "mean", seed: int = 0
) -> NDArray[np.uint8]:
    """`choose_permutations`, whose result is kept in the cache folder."""
    name = f"v{_VERSION}-{elements}-elements-{count}-by-{by}-seed-{seed}.npy"
    path = cache_folder() / "permutations" / name
    known = _read(path)
    if known is None or known.shape != (count, elements):
        known = choose_permutations(elements, count, by=by, seed=seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_open(path, shared=True) as file:
            np.save(file, known)
    return known


def read_permutations(path: str | Path, grid: int) -> NDArray[np.uint8]:
    """Read a `.npy` file of P permutations of a puzzle of grid × grid tiles, (P, grid²) integers.

    Each row has the numbers from 0 or, as in some published files, from 1.
    """
    elements = grid * grid
    where = f"method.permutations: '{path}'"
    if not Path(path).is_file():
        raise UsageError(f"{where} does not exist")
    rows = _read(Path(path))
    if rows is None or rows.ndim != 2 or rows.dtype.kind not in "iu" or len(rows) < 2:
        raise UsageError(f"{where} must be a .npy file with one permutation of integers per row")
    if rows.shape[1] != elements:
        raise UsageError(
            f"{where} has permutations of {rows.shape[1]} tiles, but a puzzle of "
            f"{grid} × {grid} has {elements}"
        )
    rows = rows - rows.min()
    if (np.sort(rows, axis=1) != np.arange(elements)).any():
        raise UsageError(f"{where}: every row must have each number from 0 to {elements - 1} once")
    if len(np.unique(rows, axis=0)) < len(rows):
        raise UsageError(f"{where} has a permutation twice")
    return rows.astype(np.uint8)


def _read(path: Path) -> NDArray[np.uint8] | None:
    """The array in a file, None if there is none; nothing in the file is executed."""
    try:
        stored = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        return None
    return stored if isinstance(stored, np.ndarray) else None
