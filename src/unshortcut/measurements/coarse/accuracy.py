"""Accuracy when only the coarse class counts, beside that of the fine class (NSN, figure 6 d).

The paper counts an image of a dog as right in the coarse sense wherever some class of dogs is
decided for, whichever it is: the fine decision is made first, and then mapped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier


@dataclass(frozen=True)
class CoarseClass:
    """Counts over the images of one coarse class."""

    name: str
    classes: int
    """Fine classes of it that can be decided for."""
    images: int
    fine_right: int
    coarse_right: int
    """By the coarse class of the fine decision."""
    summed_right: int
    """By the coarse class whose fine classes have the most probability together."""


@dataclass(frozen=True)
class CoarseResult:
    """Counts by coarse class, over images of the fine classes that the hierarchy has."""

    groups: tuple[CoarseClass, ...]
    within_by_chance: float
    """Share of the errors that would stay inside the coarse class if all the wrong classes were as
    likely; NaN without errors."""
    choices: int
    """Fine classes that can be decided for."""
    missing: tuple[str, ...]
    """Classes of the data that the hierarchy lacks: their images are not counted."""

    @property
    def images(self) -> int:
        return sum(one.images for one in self.groups)

    @property
    def fine_right(self) -> int:
        return sum(one.fine_right for one in self.groups)

    @property
    def coarse_right(self) -> int:
        return sum(one.coarse_right for one in self.groups)

    @property
    def summed_right(self) -> int:
        return sum(one.summed_right for one in self.groups)

    @property
    def errors(self) -> int:
        """Of the fine decisions."""
        return self.images - self.fine_right

    @property
    def errors_within(self) -> int:
        """Those that stay inside the coarse class."""
        return self.coarse_right - self.fine_right


def coarse_accuracy(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    coarse: Sequence[str | None],
    *,
    missing: tuple[str, ...] = (),
) -> CoarseResult:
    """From probabilities (N, K) and labels (N,), which all have a coarse class.

    Args:
        coarse: (K,) of each fine class; one of None is of a coarse class of its own, which no
            image has, so that a decision for it is wrong in every sense.
    """
    names = tuple(dict.fromkeys(name for name in coarse if name is not None))
    place = {name: at for at, name in enumerate(names)}
    alone = iter(range(len(names), len(names) + len(coarse)))
    parent = np.array([next(alone) if one is None else place[one] for one in coarse])
    truth, decided = parent[labels], probabilities.argmax(axis=1)
    summed = np.stack(
        [probabilities[:, parent == group].sum(axis=1) for group in range(parent.max() + 1)], axis=1
    )
    fine = decided == labels
    mapped, together = parent[decided] == truth, summed.argmax(axis=1) == truth
    sizes = np.bincount(parent)
    by_chance = (sizes[truth[~fine]] - 1) / max(1, len(coarse) - 1)
    groups = []
    for at, name in enumerate(names):
        own = truth == at
        if own.any():
            counts = [int(kind[own].sum()) for kind in (fine, mapped, together)]
            groups.append(CoarseClass(name, int(sizes[at]), int(own.sum()), *counts))
    return CoarseResult(
        tuple(groups),
        float(by_chance.mean()) if len(by_chance) else float("nan"),
        len(coarse),
        missing,
    )


@dataclass(frozen=True)
class Choices:
    """Fine classes that can be decided for."""

    selection: ClassOutputs
    coarse: tuple[str | None, ...]
    """Of each; None where the hierarchy lacks it."""


def choices(classifier: Classifier, data: Sequence[str], hierarchy: Mapping[str, str]) -> Choices:
    """The data's classes, and the other ones of the hierarchy that the classifier can name.

    The others count since an image of a dog may be taken for a cat where the data have only dogs.
    A class of the data that the hierarchy has under another name is known by its outputs.
    """
    everything = classifier.over(tuple(dict.fromkeys((*data, *hierarchy))))
    outputs = dict(zip(everything.names, everything.members, strict=True))
    by_outputs = {outputs[name]: coarse for name, coarse in hierarchy.items() if name in outputs}
    chosen = {name: outputs[name] for name in data if name in outputs}
    taken = {output for members in chosen.values() for output in members}
    for name in hierarchy:
        if name in outputs and not taken.intersection(outputs[name]):
            chosen[name] = outputs[name]
            taken.update(outputs[name])
    return Choices(
        replace(everything, names=tuple(chosen), members=tuple(chosen.values()), missing=()),
        tuple(hierarchy.get(name, by_outputs.get(members)) for name, members in chosen.items()),
    )
