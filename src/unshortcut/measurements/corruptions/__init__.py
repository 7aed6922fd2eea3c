"""Accuracy of a model under the 15 corruptions of ImageNet-C."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from timm.data import ImageNetInfo

from unshortcut.imaging.corruptions import SMALLEST, corrupt
from unshortcut.measurements.corruptions.accuracy import (
    COMPARABLE,
    LEVELS,
    NAMES,
    SEVERE,
    Conditions,
    CorruptionsResult,
    corruptions_result,
    mean_corruption_error,
    relative_mean_corruption_error,
)
from unshortcut.measurements.corruptions.exhibits import (
    OWN_TEXTURES,
    corruption_exhibits,
    readable,
    unlike_alexnet,
    without_errors,
)
from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Exhibit, Picture, picture
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.images import Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, part_of
from unshortcut.randomness import key_bits

MAX_IMAGES = 192
"""Each image is seen 75 times; three full batches."""
SHOWN = 3
"""Severity of the pictures."""
NOTABLE = 0.05
"""Smallest drop that the verdict mentions."""


class Corruptions(Measurement[CorruptionsResult]):
    """Accuracy under each corruption at each severity, and the mCE."""

    name = "corruptions"
    title = "Corruptions"
    question = "How accurate is the model on noisy, blurred, weathered or compressed images?"
    definition = (
        "Accuracy on resized and cropped images, under each of the 15 corruptions of ImageNet-C "
        "(Hendrycks and Dietterich 2019) at severities 1 to 5. For the mCE, the mean error over "
        "the five severities is divided by that of a reference (the published one of AlexNet, or "
        "that of a baseline model) for each corruption, and averaged over the 15; 100 % means as "
        "many errors as the reference. The relative mCE does the same with the error that a "
        "corruption adds to the error on clean images. Corruptions are made in memory with a fixed "
        "seed; the published images were saved as JPEG files, which can change accuracies by some "
        "points. Snow and frost use generated textures instead of the original ones."
    )
    order = 50
    gives = (
        "corruption_accuracy",
        "corruption_accuracy_severe",
        "corruption_accuracy_noise",
        "corruption_accuracy_blur",
        "corruption_accuracy_weather",
        "corruption_accuracy_digital",
        "corruption_drop",
        "mce",
        "mce_13",
        "relative_mce",
    )
    result = CorruptionsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> CorruptionsResult:
        images, settings = subject.labeled(MAX_IMAGES), subject.settings
        if images.view.size < SMALLEST:
            raise NotApplicable(
                f"corruptions need images of at least {SMALLEST} px; the model uses "
                f"{images.view.size} px"
            )
        labels, total = images.required_labels(), 1 + len(NAMES) * len(LEVELS)

        def right(number: int, transform: Transform | None = None) -> NDArray[np.bool_]:
            progress = part_of(on_progress, number, total)
            return subject.probabilities(images, transform, progress).argmax(axis=1) == labels

        clean = right(0)
        cases = [(name, level) for name in NAMES for level in LEVELS]
        transforms = [_transform(images, settings, *case) for case in cases]
        decided = np.stack([right(number, one) for number, one in enumerate(transforms, start=1)])
        by_name = decided.reshape(len(NAMES), len(LEVELS), -1)
        corrupted = dict(zip(NAMES, by_name, strict=True))
        conditions = Conditions(
            num_images=len(images),
            total=images.total,
            image_set=f"{key_bits(*images.indices.tolist()):032x}",
            size=images.view.size,
            num_classes=len(images.classes),
            imagenet=set(images.classes) == set(ImageNetInfo("imagenet-1k").label_names()),
            severities=settings.severities,
        )
        shown = _pictures(images, settings)
        return corruptions_result(conditions, clean, corrupted, shown, settings.seed)

    def metrics(self, result: CorruptionsResult, baseline: CorruptionsResult | None) -> Metrics:
        reference = "AlexNet" if baseline is None else "the baseline"
        unlike = unlike_alexnet(result.conditions) if baseline is None else without_errors(baseline)
        fifteen = "; ".join(part for part in (OWN_TEXTURES, unlike) if part)
        accuracies = {
            "corruption_accuracy": ("Accuracy under corruptions", result.corrupted),
            "corruption_accuracy_severe": (
                f"Accuracy under corruptions of severity {SEVERE} and above",
                result.severe,
            ),
        } | {
            f"corruption_accuracy_{group}": (f"Accuracy under {_phrase(group)}", found)
            for group, found in result.groups.items()
        }
        return {
            name: Metric.of(label, found, better="higher", headline=name == "corruption_accuracy")
            for name, (label, found) in accuracies.items()
        } | {
            "corruption_drop": Metric.of(
                "Accuracy lost under corruptions", result.drop, better="lower"
            ),
            "mce": Metric.of(
                f"mCE relative to {reference}",
                mean_corruption_error(result, baseline, NAMES),
                better="lower",
                note=fifteen,
            ),
            "mce_13": Metric.of(
                f"mCE relative to {reference}, without snow and frost",
                mean_corruption_error(result, baseline, COMPARABLE),
                better="lower",
                headline=result.conditions.like_alexnet,
                note=unlike,
            ),
            "relative_mce": Metric.of(
                f"Relative mCE with {reference} as the reference",
                relative_mean_corruption_error(result, baseline, NAMES),
                better="lower",
                headline=False,
                note=fifteen,
            ),
        }

    def exhibits(
        self, results: Mapping[str, CorruptionsResult], baseline: CorruptionsResult | None
    ) -> list[Exhibit]:
        return corruption_exhibits(results, baseline, SHOWN)

    def finding(self, result: CorruptionsResult) -> Finding | None:
        if not result.drop.low >= NOTABLE:
            return None
        worst = min(result.groups, key=lambda group: result.groups[group].value)
        text = (
            f"loses {100 * result.drop.value:.0f} points of accuracy under corruptions, "
            f"most under {_phrase(worst)}"
        )
        chance = 1 / result.conditions.num_classes
        lost = result.drop.value / max(result.clean.value - chance, result.drop.value)
        return Finding(text, 0.7 * lost)


def _transform(images: Prepared, settings: Settings, name: str, level: int) -> Transform:
    return images.seeded(
        (settings.seed, "corruption", name, level),
        lambda pixels, rng: corrupt(pixels, name, level, rng, settings.severities),
    )


def _pictures(images: Prepared, settings: Settings) -> list[Picture]:
    """An image without corruption, then under each corruption."""
    pixels = images.pixels(0)
    made = [
        picture(_transform(images, settings, name, SHOWN)(pixels, 0), readable(name))
        for name in NAMES
    ]
    return [picture(pixels, images.identity(0)), *made]


def _phrase(group: str) -> str:
    """The name of a group in a sentence."""
    return "digital corruptions" if group == "digital" else group
