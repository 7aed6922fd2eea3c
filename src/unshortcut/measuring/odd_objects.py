"""Objects out of context: their distances to scenes, and how well these find them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.auroc import auroc
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.scenes import BoxedImage, CutoutFeatures

Distances = NDArray[np.floating]


@dataclass(frozen=True)
class Detection:
    """How well one distance of object and scene finds the odd objects."""

    auroc: Estimate
    found: Estimate
    """Share of the scenes in which the object farthest from the scene is an odd one."""


@dataclass(frozen=True)
class SceneObjects:
    """n objects of scenes."""

    rows: NDArray[np.int64]
    """(n,): positions among the cutouts."""
    scenes: NDArray[np.int64]
    """(n,): position of the scene of each among the cutouts."""
    odd: NDArray[np.bool_]
    """(n,): whether an object is out of context."""

    @classmethod
    def of(cls, images: Sequence[BoxedImage], found: CutoutFeatures) -> "SceneObjects":
        """Those that could be read, with their scenes.

        found: of each image first the scene, then its objects in their order.
        """
        rows, scenes, odd = [], [], []
        first = 0
        for image in images:
            scene = found.at(first)
            for number in range(len(image.boxes)):
                row = found.at(first + 1 + number)
                if scene is not None and row is not None and image.odd is not None:
                    rows.append(row)
                    scenes.append(scene)
                    odd.append(bool(image.odd[number]))
            first += 1 + len(image.boxes)
        return cls(
            np.array(rows, dtype=np.int64),
            np.array(scenes, dtype=np.int64),
            np.array(odd, dtype=np.bool_),
        )

    def by_scene(self) -> list[NDArray[np.int64]]:
        """Which of the n objects each scene has."""
        return [np.flatnonzero(self.scenes == scene) for scene in np.unique(self.scenes)]

    @property
    def chance(self) -> float:
        """Share of the scenes in which an object chosen at random is an odd one."""
        return float(np.mean([self.odd[members].mean() for members in self.by_scene()]))

    def detection(self, distances: Distances, seed: int = 0) -> Detection:
        """How well distances (n,) to the scenes find the odd objects."""
        farthest = [members[np.argmax(distances[members])] for members in self.by_scene()]

        def statistic(rows: NDArray[np.int64]) -> float:
            return auroc(distances[rows], self.odd[rows])

        return Detection(
            Estimate.of_groups(statistic, self.scenes, seed=seed),
            Estimate.share(self.odd[farthest]),
        )

    def gain(self, distances: Distances, others: Distances, seed: int = 0) -> Estimate:
        """AUROC of distances (n,) minus that of others (n,), on the same scenes."""

        def statistic(rows: NDArray[np.int64]) -> float:
            odd = self.odd[rows]
            return auroc(distances[rows], odd) - auroc(others[rows], odd)

        return Estimate.of_groups(statistic, self.scenes, seed=seed)


def with_odd_objects(images: Sequence[BoxedImage]) -> list[BoxedImage]:
    """The images in which some objects are out of context, and some are not."""
    if all(image.odd is None for image in images):
        raise NotApplicable(
            "the data do not say which objects are out of context; shapes@context-odd and the "
            "split out_of_context of SUN09 do"
        )
    kept = [
        image
        for image in images
        if image.odd is not None and image.odd.any() and not image.odd.all()
    ]
    if not kept:
        raise NotApplicable("no image has an object that is out of context beside one that is not")
    return kept


def cosine_distances(one: NDArray[np.float32], other: NDArray[np.float32]) -> Distances:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray(1 - (one * other).sum(axis=1) / np.maximum(lengths, 1e-12))
