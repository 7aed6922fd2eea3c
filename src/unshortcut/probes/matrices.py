"""Validation of feature matrices and their labels, and accuracies of predictions."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.errors import RunError, UsageError

FeatureMatrix = Tensor | NDArray[np.floating]
"""Features (N, D) of any floating-point type; tensors may be on any device."""
Labels = Tensor | NDArray[np.integer]
"""Labels (N,), from 0 to K - 1."""
Labeled = tuple[FeatureMatrix, Labels]

TOP = 5
MANY_CLASSES = 10
"""With more classes than this, top-5 accuracy is reported beside top-1."""
_CHUNK = 2**14


def checked_features(features: FeatureMatrix, name: str) -> Tensor:
    """Features as a tensor with finite values; `name` is the data set's name in error messages."""
    tensor = torch.as_tensor(features)
    if tensor.ndim != 2 or not tensor.is_floating_point():
        raise UsageError(
            f"the {name} features must be an (N, D) matrix of floating-point numbers, "
            f"not {tuple(tensor.shape)} of {tensor.dtype}"
        )
    if tensor.numel() == 0:
        raise UsageError(f"the {name} features are empty: {tuple(tensor.shape)}")
    # A sum is finite only if its terms are, and needs no temporary of the size of the features.
    if not torch.isfinite(tensor.sum(1, dtype=torch.float64)).all():
        bad = ~torch.isfinite(tensor).all(1)
        raise RunError(
            f"the {name} features are NaN or infinite in {int(bad.sum())} of {len(bad)} rows, "
            f"first in row {int(bad.nonzero()[0])}"
        )
    return tensor.detach()


def checked(data: Labeled, name: str, classes: int | None = None) -> tuple[Tensor, Tensor]:
    """Features and labels as tensors on one device; labels must be below `classes` if given."""
    features = checked_features(data[0], name)
    labels = torch.as_tensor(data[1]).to(features.device, torch.int64)
    if labels.shape != (len(features),):
        raise UsageError(
            f"the {name} set has {len(features)} feature rows, "
            f"but labels of shape {tuple(labels.shape)}"
        )
    lowest, highest = int(labels.min()), int(labels.max())
    if lowest < 0 or (classes is not None and highest >= classes):
        allowed = "0 and more" if classes is None else f"0 to {classes - 1}"
        raise UsageError(f"the {name} labels go from {lowest} to {highest}; allowed: {allowed}")
    return features, labels


def accuracy(predictions: Tensor, labels: Tensor) -> float:
    """Share of predictions (N,) that equal the labels (N,), from 0 to 1."""
    return float((predictions == labels).double().mean())


class Accuracy(NamedTuple):
    """Accuracies from 0 to 1."""

    top1: float
    top5: float | None = None
    """None for ten classes or fewer, where it says little."""


def top_accuracy(scores: Tensor, labels: Tensor) -> Accuracy:
    """Accuracies of scores (N, K) for labels (N,); see `in_top` for equal scores."""
    top1 = accuracy(scores.argmax(1), labels)
    if scores.shape[1] <= MANY_CLASSES:
        return Accuracy(top1)
    return Accuracy(top1, float(in_top(scores, labels).double().mean()))


def in_top(scores: Tensor, labels: Tensor, k: int = TOP) -> Tensor:
    """Whether each label (N,) is among the k classes with the highest scores (N, K), (N,) bool.

    Of classes with equal scores, the one with the lower index comes first, as in `argmax`: the
    result does not depend on the device, and a label that is predicted is always in the top k.
    """
    order = torch.arange(scores.shape[1], device=scores.device)
    hits = []
    for rows, truth in zip(scores.split(_CHUNK), labels.split(_CHUNK), strict=True):
        own = rows.gather(1, truth[:, None])
        ahead = (rows > own) | ((rows == own) & (order < truth[:, None]))
        hits.append(ahead.sum(1) < k)
    return torch.cat(hits)
