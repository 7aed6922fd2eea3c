"""How well a model decides when its images are corrupted: the 15 corruptions of ImageNet-C."""

from collections.abc import Mapping, Sequence

import numpy as np
import timm.data
from numpy.typing import NDArray

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
    DRAWN,
    corruption_exhibits,
    flawless,
    foreign,
    plainly,
)
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Exhibit, Picture, picture
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.images import Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, part_of
from unshortcut.randomness import generator, key_bits

MOST = 192
"""Images, each of which is seen 75 times; three full batches."""
SHOWN = 3
"""The severity of the pictures."""
NOTICED = 0.05
"""The least drop that a verdict mentions."""
_GROUPS = {"digital": "digital changes"}
"""What a group is called within a sentence, where its name alone would not do."""


class Corruptions(Measurement[CorruptionsResult]):
    """Accuracy under each corruption at each severity, and the mCE."""

    name = "corruptions"
    title = "Corruptions"
    question = "How much accuracy is left when images are noisy, blurred, covered or compressed?"
    definition = (
        "Accuracy on images as the model sees them (resized and cropped), under each of the 15 "
        "corruptions of ImageNet-C (Hendrycks and Dietterich 2019) at severities 1 to 5. The mCE "
        "is, for each corruption, the mean error over the five severities divided by that of a "
        "reference (AlexNet's published one, or a baseline model's), averaged over the 15; 100 % "
        "is as wrong as the reference. The relative mCE does the same with what a corruption adds "
        "to the error on clean images. Corruptions are made in memory, from a seed; the published "
        "images went through JPEG files, which can change accuracies by some points. Snow and "
        "frost are drawn here, because the originals need textures of their own."
    )
    place = 50
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
        images, settings = subject.labeled(MOST), subject.settings
        if images.view.size < SMALLEST:
            raise NotApplicable(
                f"corruptions are defined from {SMALLEST} px on; the model sees {images.view.size}"
            )
        labels, passes = images.required_labels(), 1 + len(NAMES) * len(LEVELS)

        def right(number: int, transform: Transform | None = None) -> NDArray[np.bool_]:
            told = part_of(on_progress, number, passes)
            return subject.probabilities(images, transform, told).argmax(axis=1) == labels

        clean = right(0)
        corrupted = {
            name: np.stack(
                [
                    right(place * len(LEVELS) + level, _transform(images, settings, name, level))
                    for level in LEVELS
                ]
            )
            for place, name in enumerate(NAMES)
        }
        conditions = Conditions(
            n=len(images),
            total=images.total,
            images=f"{key_bits(*images.indices.tolist()):032x}",
            size=images.view.size,
            classes=len(images.classes),
            imagenet=_is_imagenet(images.classes),
            severities=settings.severities,
        )
        shown = _pictures(images, settings)
        return corruptions_result(conditions, clean, corrupted, shown, settings.seed)

    def metrics(
        self, result: CorruptionsResult, baseline: CorruptionsResult | None
    ) -> dict[str, Metric]:
        against = "AlexNet" if baseline is None else "the baseline"
        unlike = foreign(result.conditions) if baseline is None else flawless(baseline)
        fifteen = "; ".join(part for part in (DRAWN, unlike) if part)
        accuracies = {
            "corruption_accuracy": ("Accuracy under corruptions", result.corrupted),
            "corruption_accuracy_severe": (
                f"Accuracy under corruptions of severity {SEVERE} and above",
                result.severe,
            ),
        } | {
            f"corruption_accuracy_{group}": (f"Accuracy under {_said(group)}", found)
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
                f"mCE against {against}",
                mean_corruption_error(result, baseline, NAMES),
                better="lower",
                note=fifteen,
            ),
            "mce_13": Metric.of(
                f"mCE against {against}, without snow and frost",
                mean_corruption_error(result, baseline, COMPARABLE),
                better="lower",
                headline=result.conditions.alexnets,
                note=unlike,
            ),
            "relative_mce": Metric.of(
                f"Relative mCE against {against}",
                relative_mean_corruption_error(result, baseline, NAMES),
                better="lower",
                headline=False,
                note=fifteen,
            ),
        }

    def exhibits(
        self, results: Mapping[str, CorruptionsResult], baseline: CorruptionsResult | None
    ) -> Sequence[Exhibit]:
        return corruption_exhibits(results, baseline, SHOWN)

    def finding(self, result: CorruptionsResult) -> Finding | None:
        if not result.drop.low >= NOTICED:
            return None
        worst = min(result.groups, key=lambda group: result.groups[group].value)
        text = (
            f"loses {100 * result.drop.value:.0f} points of accuracy under corruptions, "
            f"most under {_said(worst)}"
        )
        chance = 1 / result.conditions.classes
        lost = result.drop.value / max(result.clean.value - chance, result.drop.value)
        return Finding(text, 0.7 * lost)


def _transform(images: Prepared, settings: Settings, name: str, level: int) -> Transform:
    def transform(pixels: Pixels, position: int) -> Pixels:
        rng = generator(settings.seed, "corruption", name, level, int(images.indices[position]))
        return corrupt(pixels, name, level, rng, settings.severities)

    return transform


def _is_imagenet(classes: Sequence[str]) -> bool:
    """Whether classes are the thousand of ImageNet, by their WordNet ids."""
    return set(classes) == set(timm.data.ImageNetInfo("imagenet-1k").label_names())


def _pictures(images: Prepared, settings: Settings) -> list[Picture]:
    """An image as it is, then under each corruption."""
    pixels = images.pixels(0)
    made = [
        picture(_transform(images, settings, name, SHOWN)(pixels, 0), plainly(name))
        for name in NAMES
    ]
    return [picture(pixels, images.identity(0)), *made]


def _said(group: str) -> str:
    return _GROUPS.get(group, group)
