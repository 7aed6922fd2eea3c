"""How far features move: cosine distances, with that between different images as the unit."""

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.estimates.estimate import Estimate

Features = NDArray[np.float32]
"""(N, D)."""
Distances = NDArray[np.float64]
"""(N,): 1 − cosine, 0 to 2."""


def moved(plain: Features, other: Features) -> Distances:
    """How far the features of each image are from those of the same image, changed.

    Half the square distance of the unit vectors, which is 1 − cosine, and exact where that is
    small; features that are all zero have no direction, and stay a zero vector.
    """
    difference = _unit(plain) - _unit(other)
    return np.asarray((difference**2).sum(axis=1) / 2)


def apart(plain: Features) -> Distances:
    """How far the features of each image are from those of the others, on average."""
    unit = _unit(plain)
    squares = (unit**2).sum(axis=1)
    others = len(unit) - 1
    products = unit @ unit.sum(axis=0) - squares
    halves = (others * squares + squares.sum() - squares) / 2
    return np.asarray((halves - products) / others)


def movement(distances: Distances, between: Distances, *, seed: int = 0) -> Estimate:
    """Mean of the distances that images moved (N,) over the mean of `apart` (N,); 1 is as far.

    The interval is a bootstrap over images. Each image takes part in the mean over pairs twice, as
    the one and as the other, so what an image changes there counts double.
    """
    mean = float(between.mean())

    def ratio(rows: NDArray[np.int64]) -> float:
        unit = 2 * float(between[rows].mean()) - mean
        return float(distances[rows].mean()) / unit if unit > 0 else float("nan")

    return Estimate.of(ratio, len(distances), seed=seed)


def _unit(features: Features) -> NDArray[np.float64]:
    values = features.astype(np.float64)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(np.divide(values, length, out=np.zeros_like(values), where=length > 0))
