"""Accuracy under corruptions, and the mean corruption error (mCE).

The mCE is the error under corruptions relative to that of a reference model (Hendrycks and
Dietterich 2019, section 4.1). Scripts that print a plain mean of errors under that name give
another number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.imaging.corruptions import APPROXIMATE, CORRUPTIONS, GROUPS
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Picture
from unshortcut.measuring.settings import Severities
from unshortcut.measuring.subjects.corrupted import LEVELS

NAMES = tuple(CORRUPTIONS)
CASES = tuple((name, level) for name in NAMES for level in LEVELS)
"""Every corruption at every severity."""
COMPARABLE = tuple(name for name in NAMES if name not in APPROXIMATE)
"""Corruptions made as in ImageNet-C, whose metrics can be compared with published ones."""
SEVERE = 3
"""Lowest severity that counts as severe."""
ALEXNET_SIDE = 224
"""Side of the images on which AlexNet's errors were measured."""
OWN_TEXTURES = (
    "snow and frost use generated textures, so an mCE that includes them cannot be compared with "
    "published ones"
)

Right = NDArray[np.bool_]
Shares = NDArray[np.float64]
"""1 where a model is right, 0 where it is wrong, NaN where it has not seen an image."""
Errors = NDArray[np.float64]
"""(C,) error rates under each corruption, each a mean over the five severities; or (n, C)."""

ALEXNET_ERRORS = {
    "gaussian_noise": 0.886428,
    "shot_noise": 0.894468,
    "impulse_noise": 0.922640,
    "defocus_blur": 0.819880,
    "glass_blur": 0.826268,
    "motion_blur": 0.785948,
    "zoom_blur": 0.798360,
    "snow": 0.866816,
    "frost": 0.826572,
    "fog": 0.819324,
    "brightness": 0.564592,
    "contrast": 0.853204,
    "elastic_transform": 0.646056,
    "pixelate": 0.717840,
    "jpeg_compression": 0.606500,
}
"""Error rates of AlexNet on ImageNet-C (hendrycks/robustness; google-research/augmix)."""
ALEXNET_CLEAN_ERROR = 0.43478
"""Of the same torchvision weights on ImageNet (hendrycks/robustness#38); the paper has 43.5 %."""


@dataclass(frozen=True)
class Conditions:
    """What the metrics were measured on."""

    num_images: int
    """Number of images."""
    total: int
    """Number of images available."""
    image_set: str
    """A hash of the set of images, which shows whether two models have seen the same ones."""
    size: int
    """Side of the images in pixels."""
    num_classes: int
    imagenet: bool
    """Whether the classes are the thousand of ImageNet."""
    severities: Severities
    published: bool = False
    """Whether the corrupted images were read from disk, and not made in memory."""
    cases_each: int = len(CASES)
    """Number of corruptions and severities under which each image is seen."""

    @property
    def complete(self) -> bool:
        """Whether each image is seen under every corruption at every severity."""
        return self.cases_each == len(CASES)

    @property
    def own_textures(self) -> str:
        """Why an mCE over all corruptions cannot be compared; empty if it can."""
        return "" if self.published else OWN_TEXTURES

    @property
    def unlike_alexnet(self) -> str:
        """Why AlexNet's published errors are not a suitable reference; empty if they are."""
        if self.imagenet and self.severities == "imagenet" and self.size == ALEXNET_SIDE:
            return ""
        severities = "ImageNet" if self.severities == "imagenet" else "CIFAR"
        classes = "ImageNet's 1000" if self.imagenet else str(self.num_classes)
        return (
            "AlexNet's errors were measured on ImageNet's 1000 classes at 224 px with the "
            f"severities for ImageNet, these on {classes} classes at {self.size} px with those for "
            f"{severities}, so an mCE relative to AlexNet means little"
        )


@dataclass(frozen=True)
class CorruptionsResult:
    """The accuracy of one model under corruptions."""

    conditions: Conditions
    clean: Estimate
    corrupted: Estimate
    """Mean over all corruptions and severities."""
    severe: Estimate
    """Mean over severities of at least `SEVERE`."""
    by_severity: tuple[Estimate, ...]
    """Mean over all corruptions at each of `LEVELS`."""
    drop: Estimate
    """Clean accuracy minus accuracy under corruptions."""
    groups: dict[str, Estimate]
    """By group of corruptions: noise, blur, weather, digital."""
    accuracy: dict[str, tuple[float, ...]]
    """By corruption: the accuracy at each of `LEVELS`."""
    mistakes: dict[str, str]
    """By corruption: one digit per image, the number of levels at which it is misclassified."""
    seen: dict[str, str]
    """By corruption: one digit per image, the number of levels at which the model has seen it."""
    clean_mistakes: str
    """One digit per image: 1 if it is misclassified without corruption."""
    pictures: tuple[Picture, ...]
    """An image without corruption, then under each corruption."""

    def mean_accuracy(self, corruption: str) -> float:
        """The mean over the severities."""
        return float(np.mean(self.accuracy[corruption]))

    def errors(self, names: Sequence[str]) -> Errors:
        """(n, C): share of the seen levels at which each image is misclassified; NaN without."""
        wrong, seen = (
            np.stack([_digits(digits[name]) for name in names], axis=1)
            for digits in (self.mistakes, self.seen)
        )
        return np.divide(wrong, seen, out=np.full(wrong.shape, np.nan), where=seen > 0)

    def without_errors(self) -> str:
        """Why there is no mCE relative to this model; empty if there is one."""
        errors = mean_seen(self.errors(NAMES))
        names = [readable(name) for name, error in zip(NAMES, errors, strict=True) if error == 0]
        return f"the baseline makes no errors under {', '.join(names)}" if names else ""

    def clean_errors(self) -> Errors:
        """(n,): 1 if an image is misclassified without corruption."""
        return _digits(self.clean_mistakes)


def corruptions_result(
    conditions: Conditions,
    clean: Right,
    corrupted: Mapping[str, Right | Shares],
    pictures: Sequence[Picture] = (),
    seed: int = 0,
) -> CorruptionsResult:
    """The result for the decisions of a model.

    Args:
        clean: (n,) whether each image is classified correctly.
        corrupted: the same (5, n) at each severity, by corruption; NaN where a model has not seen
            an image. All images must be seen equally often, and all cases by about as many images.

    The intervals of means are bootstraps over images, not over corrupted copies, because the copies
    of an image are not independent.
    """

    def mean(rights: Sequence[Shares]) -> Estimate:
        shares = mean_seen(np.concatenate(rights))
        return Estimate.mean_share(shares[~np.isnan(shares)], seed=seed)

    by_name = {name: right.astype(np.float64) for name, right in corrupted.items()}
    rights = list(by_name.values())
    every = mean_seen(np.concatenate(rights))
    return CorruptionsResult(
        conditions,
        clean=Estimate.share(clean),
        corrupted=mean(rights),
        severe=mean([right[SEVERE - 1 :] for right in rights]),
        by_severity=tuple(mean([right[[at]] for right in rights]) for at in range(len(LEVELS))),
        drop=Estimate.mean(clean - every, seed=seed),
        groups={group: mean([by_name[one] for one in names]) for group, names in GROUPS.items()},
        accuracy={name: tuple(map(float, mean_seen(one.T))) for name, one in by_name.items()},
        mistakes={name: _counts(one == 0) for name, one in by_name.items()},
        seen={name: _counts(~np.isnan(one)) for name, one in by_name.items()},
        clean_mistakes="".join("01"[wrong] for wrong in (~clean).tolist()),
        pictures=tuple(pictures),
    )


def mean_corruption_error(
    result: CorruptionsResult, baseline: CorruptionsResult | None, names: Sequence[str]
) -> Estimate:
    """The mCE over some corruptions, relative to a baseline or to AlexNet.

    A baseline that has seen the same images is resampled together with the model; the errors of
    any other are treated as constants.
    """
    errors, (others, _) = result.errors(names), _reference(result, baseline, names)
    return Estimate.of(
        lambda rows: mce(mean_seen(errors[rows]), mean_seen(others[rows])), len(errors)
    )


def relative_mean_corruption_error(
    result: CorruptionsResult, baseline: CorruptionsResult | None, names: Sequence[str]
) -> Estimate:
    """The relative mCE over some corruptions, with the same treatment of the baseline."""
    errors, clean = result.errors(names), result.clean_errors()
    others, others_clean = _reference(result, baseline, names)

    def statistic(rows: NDArray[np.int64]) -> float:
        return relative_mce(
            mean_seen(errors[rows]),
            float(clean[rows].mean()),
            mean_seen(others[rows]),
            float(others_clean[rows].mean()),
        )

    return Estimate.of(statistic, len(errors))


def reference_errors(baseline: CorruptionsResult | None, names: Sequence[str]) -> Errors:
    """The error rates (C,) of the baseline, or of AlexNet, under corruptions."""
    if baseline is None:
        return np.array([ALEXNET_ERRORS[name] for name in names])
    return mean_seen(baseline.errors(names))


def corruption_errors(errors: Errors, reference: Errors) -> Errors:
    """CE of each corruption (C,): error divided by that of the reference; NaN if that has none."""
    return np.divide(errors, reference, out=np.full(errors.shape, np.nan), where=reference > 0)


def mce(errors: Errors, reference: Errors) -> float:
    """The mean of the corruption errors; 1 means as many errors as the reference."""
    return float(corruption_errors(errors, reference).mean())


def relative_mce(errors: Errors, clean: float, reference: Errors, reference_clean: float) -> float:
    """The mean over corruptions of the added error divided by the added error of the reference.

    NaN if a corruption adds no error to the reference.
    """
    return mce(errors - clean, reference - reference_clean)


def _reference(
    result: CorruptionsResult, baseline: CorruptionsResult | None, names: Sequence[str]
) -> tuple[Errors, Errors]:
    """Errors (n, C) and clean errors (n,) of the reference, for each image if they are known."""
    if baseline is not None and baseline.conditions.image_set == result.conditions.image_set:
        return baseline.errors(names), baseline.clean_errors()
    n = result.conditions.num_images
    clean = ALEXNET_CLEAN_ERROR if baseline is None else 1 - baseline.clean.value
    return np.tile(reference_errors(baseline, names), (n, 1)), np.full(n, clean)


def readable(name: str) -> str:
    """The name of a corruption with spaces for underscores."""
    return name.replace("_", " ")


def mean_seen(values: Shares) -> Shares:
    """Means over the first axis of those that are not NaN; NaN if all are."""
    known = ~np.isnan(values)
    total, count = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _counts(cases: Right) -> str:
    """The number of levels (5, n) of each image, as digits."""
    return "".join(map(str, cases.sum(axis=0).tolist()))


def _digits(text: str) -> Errors:
    return (np.frombuffer(text.encode(), np.uint8) - ord("0")).astype(np.float64)
