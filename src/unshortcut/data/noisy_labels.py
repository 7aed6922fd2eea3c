"""Labels that are wrong with a known probability, and the few images whose labels are trusted.

The corruptions are those of gold loss correction (Hendrycks et al. 2018). A corruption matrix C is
(K, K): row i has the probabilities of the label that an image of class i is given. Trusted images
are called gold and keep their labels; the others are called silver.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import IndexArray
from unshortcut.data.source import DerivedSource, ImageSource, Subset
from unshortcut.errors import UsageError
from unshortcut.randomness import generator

Kind = Literal["uniform", "flip", "hierarchical"]
Matrix = NDArray[np.float64]
_SHUFFLES = 1000
"""Most attempts to choose gold images of every class."""


def uniform_corruption(num_classes: int, p: float) -> Matrix:
    """With probability p, a label is drawn from all classes: p/K·11ᵀ + (1 - p)·I."""
    _check_probability(p)
    return np.full((num_classes, num_classes), p / num_classes) + (1 - p) * np.eye(num_classes)


def flip_corruption(num_classes: int, p: float, rng: np.random.Generator) -> Matrix:
    """With probability p, a label becomes one other class, which is drawn once for each class."""
    _check_probability(p)
    if num_classes < 2:
        raise UsageError("label noise of kind flip needs at least two classes")
    classes = np.arange(num_classes)
    other = (classes + rng.integers(1, num_classes, num_classes)) % num_classes
    matrix = (1 - p) * np.eye(num_classes)
    matrix[classes, other] = p
    return matrix


def hierarchical_corruption(groups: Sequence[str], p: float) -> Matrix:
    """With probability p, a label is drawn from the other classes of its coarse class.

    `groups` has the coarse class of each class; a class that is alone in its own is never
    corrupted.
    """
    _check_probability(p)
    names = np.asarray(groups)
    others = (names[:, None] == names) & ~np.eye(len(names), dtype=bool)
    counts = others.sum(axis=1, keepdims=True)
    spread = np.where(counts > 0, p * others / np.maximum(counts, 1), np.eye(len(names)) * p)
    return (1 - p) * np.eye(len(names)) + spread


def coarse_of(classes: Sequence[str], hierarchy: Mapping[str, str]) -> list[str]:
    """The coarse class of each class, or a `UsageError` that names a class without one."""
    missing = [name for name in classes if name not in hierarchy]
    if missing:
        raise UsageError(
            f"the hierarchy names no coarse class for {len(missing)} of {len(classes)} classes; "
            f"the first is '{missing[0]}'"
        )
    return [hierarchy[name] for name in classes]


def corrupted(labels: IndexArray, matrix: Matrix, rng: np.random.Generator) -> IndexArray:
    """Labels (N,) that are drawn anew, each from its row of a corruption matrix."""
    ends = np.cumsum(matrix, axis=1)
    ends /= ends[:, -1:]  # so that rounding draws no class of probability 0
    drawn, found = rng.random(len(labels)), np.empty_like(labels)
    for label in np.unique(labels):
        rows = labels == label
        found[rows] = np.searchsorted(ends[label], drawn[rows], side="right")
    return found


def choose_gold(labels: IndexArray, fraction: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(N,): a random part of the images in which every class occurs; `UsageError` if none does."""
    wanted, count = len(np.unique(labels)), int(fraction * len(labels))
    gold = np.zeros(len(labels), dtype=bool)
    if fraction == 0:
        return gold
    for _ in range(_SHUFFLES if count >= wanted else 0):
        chosen = rng.permutation(len(labels))[:count]
        if len(np.unique(labels[chosen])) == wanted:
            gold[chosen] = True
            return gold
    raise UsageError(
        f"a gold fraction of {fraction:g} is {count} of {len(labels)} images, too few to have "
        f"every one of {wanted} classes; choose a larger one"
    )


class NoisyLabels(DerivedSource):
    """A source in which only gold images are sure to keep their labels.

    Everything depends on the labels of the source, the settings and the seed; the corruption of
    an image does not depend on which images are gold.

    Args:
        hierarchy: coarse class by class, for the kind `hierarchical`.
    """

    def __init__(
        self,
        source: ImageSource,
        kind: Kind,
        p: float,
        gold: float,
        seed: int,
        hierarchy: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(source)
        if source.labels is None or source.classes is None:
            raise UsageError("label noise needs labels, and the data have none")
        if len(source.labels) and source.labels.min() < 0:
            raise UsageError("label noise needs a label for every image, and some have none")
        classes = source.classes
        if kind == "uniform":
            self.matrix = uniform_corruption(len(classes), p)
        elif kind == "flip":
            self.matrix = flip_corruption(len(classes), p, generator(seed, "flipped classes"))
        elif hierarchy is None:
            raise UsageError("label noise of kind hierarchical needs a hierarchy of the classes")
        else:
            self.matrix = hierarchical_corruption(coarse_of(classes, hierarchy), p)
        self.trusted = choose_gold(source.labels, gold, generator(seed, "gold"))
        drawn = corrupted(source.labels, self.matrix, generator(seed, "label noise"))
        self.labels = np.where(self.trusted, source.labels, drawn)

    def fingerprint(self) -> str:
        assert self.labels is not None and self.trusted is not None
        digest = hashlib.sha256(self.source.fingerprint().encode())
        digest.update(self.labels.tobytes())
        digest.update(self.trusted.tobytes())
        return digest.hexdigest()


def gold_images(source: ImageSource) -> Subset:
    """The images of a source whose labels are trusted."""
    assert source.trusted is not None
    return Subset(source, np.flatnonzero(source.trusted))


def silver_images(source: ImageSource) -> Subset:
    """The images of a source whose labels are not trusted."""
    assert source.trusted is not None
    return Subset(source, np.flatnonzero(~source.trusted))


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise UsageError(f"the probability of a corrupted label must be in [0, 1], got {p:g}")
