"""What probes of images that may show several classes share: checked labels, and the score."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.data.regions import MultiLabels
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.probes.average_precision import (
    average_precisions,
    map_mean_over_batches,
    mean_over_classes,
)
from unshortcut.probes.base import Score
from unshortcut.probes.class_subset import SHOWN

Values = NDArray[np.int8]
"""(N, C): 1 shown, 0 not shown, -1 unknown."""


def check_multilabels(train: ImageSource, tests: Mapping[str, ImageSource], kind: str) -> None:
    """Raise a `UsageError` if any of the data lack labels, before features are computed."""
    required = _required(train.multilabels, "the training data", kind)
    if not (required.values == 1).any():
        raise UsageError("no training image shows any of the classes")
    for name, source in tests.items():
        shown = _required(source.multilabels, f"'{name}'", kind)
        if not (_aligned(shown, required.classes, name) == 1).any():
            raise UsageError(f"no image of '{name}' shows any of the classes")


def values_of(features: Features, classes: Sequence[str], name: str, kind: str) -> Values:
    """The labels (N, C) of features for the classes of the training data, in their order.

    Classes that a test set lacks are unknown in all of its images, so they do not count.
    """
    return _aligned(_required(features.multilabels, f"'{name}'", kind), classes, name)


def map_score(scores: Tensor, values: Values) -> Score:
    """The mean average precision over the data set, in percent, for scores (N, C)."""
    found = average_precisions(scores, values)
    others = {
        "map_interpolated": mean_over_classes(found.interpolated),
        "map_11pt": mean_over_classes(found.eleven_point),
        "map_mean_over_batches": map_mean_over_batches(scores, values),
    }
    percent = {key: 100 * value for key, value in others.items()}
    return Score(100 * mean_over_classes(found.area), metric="map", others=percent)


def _required(multilabels: MultiLabels | None, name: str, kind: str) -> MultiLabels:
    if multilabels is None:
        raise UsageError(
            f"a {kind} probe needs to know which classes each image shows, as in VOC, COCO or a "
            f"CSV file of labels; {name} does not say. For one class per image use --kind linear"
        )
    return multilabels


def _aligned(multilabels: MultiLabels, classes: Sequence[str], name: str) -> Values:
    positions = {one: number for number, one in enumerate(classes)}
    lacking = [one for one in multilabels.classes if one not in positions]
    if lacking:
        more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        raise UsageError(
            f"'{name}' has other classes than the training data: {', '.join(lacking[:SHOWN])}{more}"
        )
    values = np.full((len(multilabels.values), len(classes)), -1, dtype=np.int8)
    values[:, [positions[one] for one in multilabels.classes]] = multilabels.values
    return values
