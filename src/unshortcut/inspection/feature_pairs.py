"""Pairs of images with near features: candidates for copies that their hashes do not show."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import ArrayImage, BadImageError
from unshortcut.inference.features import compute_features
from unshortcut.inference.forward import run_features
from unshortcut.inference.preprocessing import stack
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.copy_calibration import altered, calibration_sample
from unshortcut.inspection.hash_pairs import Pairs
from unshortcut.models.load import LoadedModel
from unshortcut.progress import OnProgress, part_of

NEIGHBORS = 3
"""Number of nearest neighbors of each image that are looked at."""
_RECALL = 0.95
"""Share of copies of the data's own images whose features must be near enough."""
_BLOCK = 1024


@dataclass(frozen=True)
class CollectionFeatures:
    """Features of the images of a collection that the model could be run on."""

    numbers: NDArray[np.int64]  # (N,), images of the collection
    values: NDArray[np.float32]  # (N, D)

    def of(self, wanted: NDArray[np.int64]) -> NDArray[np.float32]:
        """The features (n, D) of some images, all of which must have some."""
        rows: NDArray[np.float32] = self.values[np.searchsorted(self.numbers, wanted)]
        return rows


def collection_features(
    model: LoadedModel,
    collection: Collection,
    *,
    workers: int | None = None,
    on_progress: OnProgress = lambda done, total: None,
) -> CollectionFeatures:
    """Features of all images, from the cache where they are known."""
    numbers, values = [], []
    for part, split in enumerate(collection.names):
        features = compute_features(
            model,
            collection.source(split),
            workers=workers,
            on_progress=part_of(on_progress, part, len(collection.names)),
        )
        found = collection.number_of(split, features.indices)
        numbers.append(found[found >= 0])
        values.append(features.values[found >= 0])
    return CollectionFeatures(np.concatenate(numbers), np.concatenate(values))


def feature_pairs(
    model: LoadedModel, collection: Collection, features: CollectionFeatures, *, seed: int = 0
) -> Pairs:
    """Images and those of their nearest neighbors that are as near as copies usually are.

    How near copies are is measured on copies that are made of some images of the collection.
    """
    unit = _normalized(features.values)
    least = _copy_cosine(model, collection, features, seed)
    found = []
    for start in range(0, len(unit), _BLOCK):
        cosines = unit[start : start + _BLOCK] @ unit.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -2.0
        near = np.argpartition(-cosines, min(NEIGHBORS, len(unit) - 1), axis=1)[:, :NEIGHBORS]
        picked = cosines[rows[:, None], near] >= least
        first = np.repeat(start + rows, NEIGHBORS).reshape(near.shape)[picked]
        found.append(np.stack([features.numbers[first], features.numbers[near[picked]]], axis=1))
    return np.unique(np.sort(np.concatenate(found), axis=1), axis=0)


def _copy_cosine(
    model: LoadedModel, collection: Collection, features: CollectionFeatures, seed: int
) -> float:
    """Cosine similarity that 95 % of the copies of some images reach."""
    view = model.preprocessing.view
    sample = np.intersect1d(calibration_sample(collection, seed), features.numbers)
    cosines: list[float] = []
    for number in sample.tolist():
        try:
            pixels = collection.image(number)
        except BadImageError:
            continue
        copies = [view(ArrayImage(one), 0, 0, 0)["image"] for one in altered(pixels)]
        rows = _normalized(run_features(model, stack(copies)).float().numpy())
        own = _normalized(features.of(np.array([number])))
        cosines += (rows @ own[0]).tolist()
    return float(np.quantile(cosines, 1 - _RECALL)) if cosines else 1.0


def _normalized(values: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    unit: NDArray[np.float32] = values / np.maximum(norms, 1e-12)
    return unit
