"""Average precision of classes that images may show together, for all classes at once.

An image for which it is unknown whether it shows a class counts neither way for that class. Images
with equal scores are one step of the precision-recall curve, as in scikit-learn, so that no figure
depends on their order.

Shapes: N images, C classes.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.errors import RunError, UsageError

Scores = Tensor | NDArray[np.floating]
"""(N, C): higher if the image shows the class."""
Values = Tensor | NDArray[np.integer]
"""(N, C): 1 shown, 0 not shown, -1 unknown."""

RECALLS = 10
"""VOC's 11 points are the recalls 0, 1/10, …, 10/10."""
CHUNK = 2**21
"""Number of scores that are sorted at once."""


@dataclass(frozen=True)
class AveragePrecisions:
    """Average precision by class, (C,) from 0 to 1; NaN for a class that is never shown."""

    area: NDArray[np.float64]
    """Mean of the precision at each image that shows the class, as scikit-learn's
    `average_precision_score`."""
    interpolated: NDArray[np.float64]
    """The same of the highest precision at that recall or a higher one: VOC's measure since 2010,
    and that of the SVM benchmark of Goyal et al. (2019)."""
    eleven_point: NDArray[np.float64]
    """Mean of the interpolated precision at 11 recalls: VOC's measure until 2009."""


def average_precisions(scores: Scores, values: Values) -> AveragePrecisions:
    """The average precision of each class for scores (N, C) and values (N, C)."""
    columns, truth = _checked(scores, values)
    rows = max(1, CHUNK // columns.shape[1])
    pairs = zip(columns.split(rows), truth.split(rows), strict=True)
    found = torch.cat([_of_classes(some, shown) for some, shown in pairs], dim=1)
    return AveragePrecisions(*found.cpu().numpy())


def mean_average_precision(scores: Scores, values: Values) -> float:
    """Mean of the area over the classes that are shown at least once, from 0 to 1."""
    return mean_over_classes(average_precisions(scores, values).area)


def mean_over_classes(precision: NDArray[np.float64]) -> float:
    """Mean of (C,) over the classes that are shown at least once."""
    known = precision[~np.isnan(precision)]
    if not len(known):
        raise UsageError("no image shows any of the classes, so there is no average precision")
    return float(known.mean())


def map_mean_over_batches(scores: Scores, values: Values, batch_size: int = 256) -> float:
    """Mean over batches of the mean average precision within each batch, from 0 to 1.

    This is the figure of the published script for OpenImages (object-aware cropping, batches of
    256), not a mean average precision: an image competes with the others of its batch only, and a
    class counts only in batches that show it, so it is higher than that of the whole data set.
    Batches are consecutive images; each counts by its number of images, and one that shows no class
    not at all.
    """
    columns, truth = _checked(scores, values)
    total, images = 0.0, 0
    for some, shown in zip(
        columns.split(batch_size, dim=1), truth.split(batch_size, dim=1), strict=True
    ):
        if not (shown == 1).any():
            continue
        area = average_precisions(some.T, shown.T).area
        total += mean_over_classes(area) * some.shape[1]
        images += some.shape[1]
    if not images:
        raise UsageError("no image shows any of the classes, so there is no average precision")
    return total / images


def _checked(scores: Scores, values: Values) -> tuple[Tensor, Tensor]:
    """Scores and values as tensors (C, N), whose rows can be sorted."""
    found, truth = torch.as_tensor(scores), torch.as_tensor(values)
    if found.ndim != 2 or found.shape != truth.shape or not found.numel():
        raise UsageError(
            f"scores and values must be (N, C) both, not {tuple(found.shape)} and "
            f"{tuple(truth.shape)}"
        )
    if found.isnan().any():
        raise RunError(f"{int(found.isnan().any(1).sum())} of {len(found)} images have NaN scores")
    return found.detach().T, truth.to(found.device).T


def _of_classes(scores: Tensor, values: Tensor) -> Tensor:
    """The three measures (3, C) of scores and values (C, N)."""
    ordered, order = scores.sort(dim=1, descending=True)
    sorted_values = values.gather(1, order)
    hits = sorted_values == 1
    found = hits.cumsum(1)  # (C, N), as are all that follow
    seen = (sorted_values >= 0).cumsum(1)
    positions = torch.arange(ordered.shape[1], device=ordered.device).expand_as(ordered)
    ends = torch.full_like(positions, ordered.shape[1] - 1)
    changes = ordered[:, :-1] != ordered[:, 1:]
    ends[:, :-1] = torch.where(changes, positions[:, :-1], ordered.shape[1] - 1)
    end = ends.flip(1).cummin(1).values.flip(1)  # the last image with an equal score
    precision = (found.double() / seen.clamp(min=1)).gather(1, end)
    highest = precision.flip(1).cummax(1).values.flip(1)
    shown = found[:, -1:]  # (C, 1)
    means = [(curve * hits).sum(1) / shown[:, 0] for curve in (precision, highest)]
    # In integers, because 3 of 10 images must reach the recall 3 / 10.
    needed = (shown * torch.arange(RECALLS + 1, device=shown.device) + RECALLS - 1) // RECALLS
    at = torch.searchsorted(found, needed).clamp(max=ordered.shape[1] - 1)
    points = highest.gather(1, at).mean(1)
    return torch.stack([*means, torch.where(shown[:, 0] > 0, points, torch.nan)])
