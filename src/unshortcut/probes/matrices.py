"""Validation of feature matrices and their labels."""

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


def checked_features(features: FeatureMatrix, name: str, *, copies: bool = False) -> Tensor:
    """Features as a tensor with finite values; `name` is the data set's name in error messages.

    With `copies`, V copies of each sample are allowed, (N, V, D).
    """
    tensor = torch.as_tensor(features)
    if tensor.ndim not in ((2, 3) if copies else (2,)) or not tensor.is_floating_point():
        raise UsageError(
            f"the {name} features must be an (N, D) matrix of floating-point numbers, "
            f"not {tuple(tensor.shape)} of {tensor.dtype}"
        )
    if tensor.numel() == 0:
        raise UsageError(f"the {name} features are empty: {tuple(tensor.shape)}")
    rows = tensor.flatten(1)
    # A sum is finite only if its terms are, and needs no temporary of the size of the features.
    if not torch.isfinite(rows.sum(1, dtype=torch.float64)).all():
        bad = ~torch.isfinite(rows).all(1)
        raise RunError(
            f"the {name} features are NaN or infinite in {int(bad.sum())} of {len(bad)} rows, "
            f"first in row {int(bad.nonzero()[0])}"
        )
    return tensor.detach()


def checked(
    data: Labeled, name: str, classes: int | None = None, *, copies: bool = False
) -> tuple[Tensor, Tensor]:
    """Features and labels as tensors on one device; labels must be below `classes` if given."""
    features = checked_features(data[0], name, copies=copies)
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
