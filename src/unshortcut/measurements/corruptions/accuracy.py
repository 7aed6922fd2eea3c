"""Accuracy under corruptions: what a model's decisions on corrupted images come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.imaging.corruptions import APPROXIMATE, CORRUPTIONS, GROUPS
from unshortcut.measurements.corruptions.mce import (
    ALEXNET_CLEAN_ERROR,
    ALEXNET_ERRORS,
    mce,
    relative_mce,
)
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Picture
from unshortcut.measuring.settings import Severities

NAMES = tuple(CORRUPTIONS)
COMPARABLE = tuple(name for name in NAMES if name not in APPROXIMATE)
"""Corruptions made as for ImageNet-C, so that metrics over them can be compared."""
LEVELS = (1, 2, 3, 4, 5)
SEVERE = 3
"""The least severity that counts as severe."""
ALEXNET_SIDE = 224
"""Of the images that AlexNet's errors were measured on."""

Right = NDArray[np.bool_]


@dataclass(frozen=True)
class Conditions:
    """What the metrics were measured on."""

    n: int
    """Images, each seen under every corruption."""
    total: int
    """Images that could have been taken."""
    images: str
    """Tells sets of images apart: models with the same have seen the same ones."""
    size: int
    """Side of the images in pixels."""
    classes: int
    imagenet: bool
    """Whether the classes are ImageNet's thousand."""
    severities: Severities

    @property
    def alexnets(self) -> bool:
        """Whether AlexNet's published errors are of such images and severities."""
        return self.imagenet and self.severities == "imagenet" and self.size == ALEXNET_SIDE


@dataclass(frozen=True)
class CorruptionsResult:
    """One model's accuracy under corruptions."""

    conditions: Conditions
    clean: Estimate
    corrupted: Estimate
    """The mean over all corruptions and severities."""
    severe: Estimate
    """The mean over severities of at least `SEVERE`."""
    by_severity: tuple[Estimate, ...]
    """The mean over all corruptions at each of `LEVELS`."""
    drop: Estimate
    """Clean accuracy minus that under corruptions."""
    groups: dict[str, Estimate]
    """By group of corruptions: noise, blur, weather, digital."""
    accuracy: dict[str, tuple[float, ...]]
    """By corruption: at each of `LEVELS`."""
    mistakes: dict[str, str]
    """By corruption: a digit an image, at how many of the levels the model is wrong about it."""
    clean_mistakes: str
    """A digit an image: 1 where the model is wrong about it uncorrupted."""
    pictures: tuple[Picture, ...]
    """One image as it is, then under each corruption."""

    def mean_accuracy(self, corruption: str) -> float:
        """Over the severities."""
        return float(np.mean(self.accuracy[corruption]))

    def errors(self, names: Sequence[str]) -> NDArray[np.float64]:
        """(n, C): the share of levels at which the model is wrong about each image."""
        digits = [_digits(self.mistakes[name]) for name in names]
        return np.stack(digits, axis=1) / len(LEVELS)

    def clean_errors(self) -> NDArray[np.float64]:
        """(n,): 1 where the model is wrong about an image uncorrupted."""
        return _digits(self.clean_mistakes)


def corruptions_result(
    conditions: Conditions,
    clean: Right,
    corrupted: Mapping[str, Right],
    pictures: Sequence[Picture] = (),
    seed: int = 0,
) -> CorruptionsResult:
    """What decisions come to.

    Args:
        clean: (n,) whether the decision about each image is right.
        corrupted: the same (5, n) at each severity, by corruption.

    The interval of a mean is a bootstrap over images: a resample takes all that was asked about
    an image, because its corrupted copies are not independent.
    """

    def mean(rights: Sequence[Right]) -> Estimate:
        return Estimate.mean_share(np.concatenate(rights).mean(axis=0, dtype=np.float64), seed=seed)

    every = np.concatenate(list(corrupted.values())).mean(axis=0, dtype=np.float64)
    return CorruptionsResult(
        conditions,
        clean=Estimate.share(clean),
        corrupted=mean(list(corrupted.values())),
        severe=mean([right[SEVERE - 1 :] for right in corrupted.values()]),
        by_severity=tuple(
            mean([right[place : place + 1] for right in corrupted.values()])
            for place in range(len(LEVELS))
        ),
        drop=Estimate.mean(clean - every, seed=seed),
        groups={
            group: mean([corrupted[name] for name in names]) for group, names in GROUPS.items()
        },
        accuracy={
            name: tuple(float(level.mean()) for level in right) for name, right in corrupted.items()
        },
        mistakes={
            name: "".join(map(str, (~right).sum(axis=0).tolist()))
            for name, right in corrupted.items()
        },
        clean_mistakes="".join("01"[wrong] for wrong in (~clean).tolist()),
        pictures=tuple(pictures),
    )


def mean_corruption_error(
    result: CorruptionsResult, baseline: CorruptionsResult | None, names: Sequence[str]
) -> Estimate:
    """The mCE over some corruptions, against a baseline or AlexNet.

    A baseline that has seen the same images is resampled with the model; the metrics of another
    are taken as they are.
    """
    errors, (others, _) = result.errors(names), _reference(result, baseline, names)
    return Estimate.of(
        lambda rows: mce(errors[rows].mean(axis=0), others[rows].mean(axis=0)), len(errors)
    )


def relative_mean_corruption_error(
    result: CorruptionsResult, baseline: CorruptionsResult | None, names: Sequence[str]
) -> Estimate:
    """The relative mCE, likewise."""
    errors, clean = result.errors(names), result.clean_errors()
    others, others_clean = _reference(result, baseline, names)

    def statistic(rows: NDArray[np.int64]) -> float:
        return relative_mce(
            errors[rows].mean(axis=0),
            float(clean[rows].mean()),
            others[rows].mean(axis=0),
            float(others_clean[rows].mean()),
        )

    return Estimate.of(statistic, len(errors))


def reference_errors(
    baseline: CorruptionsResult | None, names: Sequence[str]
) -> NDArray[np.float64]:
    """(C,): the baseline's errors under corruptions, or AlexNet's."""
    if baseline is None:
        return np.array([ALEXNET_ERRORS[name] for name in names])
    return baseline.errors(names).mean(axis=0)


def _reference(
    result: CorruptionsResult, baseline: CorruptionsResult | None, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The reference's errors (n, C) and clean errors (n,), image by image where they are known."""
    if baseline is not None and baseline.conditions.images == result.conditions.images:
        return baseline.errors(names), baseline.clean_errors()
    n = result.conditions.n
    clean = ALEXNET_CLEAN_ERROR if baseline is None else 1 - baseline.clean.value
    return np.tile(reference_errors(baseline, names), (n, 1)), np.full(n, clean)


def _digits(text: str) -> NDArray[np.float64]:
    return (np.frombuffer(text.encode(), np.uint8) - ord("0")).astype(np.float64)
