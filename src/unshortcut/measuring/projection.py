"""Features in two dimensions, for a map: PCA, then t-SNE (van der Maaten and Hinton, 2008).

Features are scaled to unit length first, so that near points are those with a large cosine, as
nearest neighbors are.
"""

import io
import re
from contextlib import redirect_stdout

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.nearest import unit_rows
from unshortcut.progress import OnProgress

COMPONENTS = 50
"""Principal components that t-SNE sees; more cost time and add mostly noise."""
PERPLEXITY = 30.0
"""About how many neighbors of a point should stay near it; fewer for less than 91 images."""
_ITERATIONS = 1000  # the default of scikit-learn
_FEWEST = 4
"""Fewer points are placed by their principal components alone."""
_ALIKE = 1e-6
"""Unit features that differ by less differ only by rounding."""


def project(
    features: NDArray[np.float32], *, seed: int = 0, on_progress: OnProgress | None = None
) -> NDArray[np.float32]:
    """Positions (N, 2) from 0 to 1 of features (N, D); near features are near each other.

    The same features, seed and number of threads give the same positions. Both axes have the same
    scale; the points are centered on the one along which they extend less.

    Args:
        on_progress: called with (iterations done, iterations in all).
    """
    bad = int((~np.isfinite(features)).any(axis=1).sum())
    if bad:
        raise UsageError(f"the features of {bad} of {len(features)} images are not finite")
    points = _principal(unit_rows(features), seed)
    if np.ptp(points) < _ALIKE:
        points = np.zeros_like(points)
    elif len(points) >= _FEWEST:
        points = _tsne(points, seed, on_progress)
    if on_progress:
        on_progress(_ITERATIONS, _ITERATIONS)  # it may have converged before
    return _into_square(points[:, :2])


def _principal(values: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """At most `COMPONENTS` principal components (N, C), at least 2."""
    from sklearn.decomposition import PCA

    count = min(COMPONENTS, *values.shape)
    found = PCA(count, random_state=seed).fit_transform(values) if len(values) > 1 else values * 0
    missing = max(0, 2 - found.shape[1])
    return np.pad(found, ((0, 0), (0, missing))).astype(np.float32)


def _tsne(
    points: NDArray[np.float32], seed: int, on_progress: OnProgress | None
) -> NDArray[np.float32]:
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (len(points) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init="pca", random_state=seed, verbose=2)
    with redirect_stdout(_Iterations(on_progress)):
        placed: NDArray[np.float32] = tsne.fit_transform(points)
    return placed


class _Iterations(io.TextIOBase):
    """Reads the progress of scikit-learn's t-SNE from what it prints; it has no callback."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.on_progress = on_progress

    def write(self, text: str) -> int:
        found = re.search(r"Iteration (\d+)", text)
        if found and self.on_progress:
            self.on_progress(int(found[1]), _ITERATIONS)
        return len(text)


def _into_square(points: NDArray[np.float32]) -> NDArray[np.float32]:
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    return (0.5 + (points - (low + high) / 2) / extent).astype(np.float32)
