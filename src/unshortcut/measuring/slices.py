"""Weak slices: images of a class that are alike in the features and that a model gets wrong.

One half of the images of a class proposes a slice, and the other half decides whether it is one, so
that a slice is not just the errors that it was made of.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from unshortcut.randomness import generator

SHARE = 0.25
"""Share of the images of a class in a slice along a direction."""
FEWEST = 12
"""Images of a class, and errors or hits among one half (a quarter of it), that a slice needs."""
_PENALTY = 0.01
"""Inverse strength of the L2 penalty: few errors and many features."""


@dataclass(frozen=True)
class Slice:
    """Images of a class, and how often the model is right on them."""

    members: NDArray[np.int64]
    """Rows of the images in it, the most typical first, among those that did not propose it."""
    inside: tuple[int, int]
    """Correct and all images of the deciding half inside it."""
    outside: tuple[int, int]
    """Correct and all of its images outside."""
    p: float
    """One-sided probability of so large a gap by chance (Fisher)."""

    @property
    def gap(self) -> float:
        """Accuracy outside minus inside."""
        return self.outside[0] / self.outside[1] - self.inside[0] / self.inside[1]


@dataclass(frozen=True)
class Halves:
    """The images of a class, by row: those that propose slices, and those that decide."""

    proposing: NDArray[np.int64]
    deciding: NDArray[np.int64]


def halves(right: NDArray[np.bool_], *, seed: int = 0) -> Halves | None:
    """Divide a class; None if it has too few images, errors or hits.

    Args:
        right: (N,), whether each image of the class is classified correctly.
    """
    if len(right) < FEWEST:
        return None
    order = generator(seed, "slices").permutation(len(right))
    found = Halves(order[: len(order) // 2], order[len(order) // 2 :])
    errors = int((~right[found.proposing]).sum())
    if min(errors, len(found.proposing) - errors) < FEWEST // 4:
        return None
    return found


def find_slice(features: NDArray[np.floating], right: NDArray[np.bool_], parts: Halves) -> Slice:
    """The slice of one class along the direction in which errors differ most from hits.

    Args:
        features: (N, D) of the images of the class.
        right: (N,), whether each is classified correctly.
        parts: the two halves of the class.
    """
    scaler = StandardScaler().fit(features)
    model = LogisticRegression(C=_PENALTY, class_weight="balanced", max_iter=1000)
    model.fit(scaler.transform(features[parts.proposing]), ~right[parts.proposing])
    scores = model.decision_function(scaler.transform(features[parts.deciding]))
    count = max(1, round(SHARE * len(parts.deciding)))
    ranked = parts.deciding[np.argsort(-scores, kind="stable")]
    return decided(right, ranked[:count], ranked[count:])


def decided(
    right: NDArray[np.bool_], inside: NDArray[np.int64], outside: NDArray[np.int64]
) -> Slice:
    """The slice that the deciding half gives: rows inside and outside, neither of them empty."""
    hits, others = int(right[inside].sum()), int(right[outside].sum())
    table = [[len(inside) - hits, hits], [len(outside) - others, others]]
    p = float(fisher_exact(table, alternative="greater")[1])
    return Slice(inside, (hits, len(inside)), (others, len(outside)), p)
