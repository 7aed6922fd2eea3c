"""Backgrounds: how much of a decision comes from what is around the object."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import (
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    picture,
)
from unshortcut.measuring.foregrounds import Mask, check_annotated, foregrounds, without_foreground
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.images import ImageSample, Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress, part_of
from unshortcut.randomness import generator

MAX_IMAGES = Limit(quick=60, standard=300)
EXAMPLES = 4
LEAST, MOST = 0.02, 0.9
"""Shares of the image that an object must cover, so that there is something to see of both."""
NOTABLE = 0.1
"""A gap between backgrounds of the own and of another class that the verdict mentions."""
_TITLES = {
    "plain": "image",
    "only_background": "background alone",
    "mixed_same": "background of its class",
    "mixed_random": "background of another class",
}


@dataclass(frozen=True)
class BackgroundsResult(ImageSample):
    """Accuracies of one model on images with other backgrounds."""

    chance: float
    plain: Estimate
    only_background: Estimate
    mixed_same: Estimate
    mixed_random: Estimate
    gap: Estimate
    """Background gap: `mixed_same` minus `mixed_random`."""
    examples: tuple[tuple[str, tuple[Picture, ...]], ...]


class Backgrounds(Measurement[BackgroundsResult]):
    """Objects on other backgrounds, and backgrounds without objects."""

    name = "backgrounds"
    title = "Backgrounds"
    question = "How much does the model rely on what is around the object?"
    definition = (
        "For images whose objects are annotated by masks or boxes (Xiao et al. 2020). Background "
        "alone: the object is filled smoothly from around it, and the class is still that of the "
        "object. Mixed: the object is put onto such a background of another image, of its own "
        "class or of another one. The background gap is the accuracy on backgrounds of the own "
        "class minus that on backgrounds of other classes; a model that looks at objects alone "
        "has none. With boxes instead of masks, a rectangle around the object moves with it. "
        "Intervals are 95 %: Wilson's, and a bootstrap over images for the gap."
    )
    order = 35
    gives = (
        "background_only_accuracy",
        "background_same_accuracy",
        "background_random_accuracy",
        "background_gap",
    )
    result = BackgroundsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> BackgroundsResult:
        check_annotated(subject.data)
        images, masks = _with_objects(subject.labeled(MAX_IMAGES))
        labels = images.required_labels()
        same, other = _partners(labels, subject.settings.seed)

        def behind(at: int) -> Pixels:
            return without_foreground(images.pixels(at), masks[at])

        def onto(partner: NDArray[np.int64]) -> Transform:
            return lambda pixels, at: np.where(
                masks[at][:, :, None], pixels, behind(int(partner[at]))
            )

        changes: dict[str, Transform] = {
            "only_background": lambda pixels, at: behind(at),
            "mixed_same": onto(same),
            "mixed_random": onto(other),
        }
        decided = {"plain": subject.probabilities(images).argmax(axis=1)}
        for number, (name, change) in enumerate(changes.items()):
            progress = part_of(on_progress, number, len(changes))
            decided[name] = subject.probabilities(images, change, progress).argmax(axis=1)
        right = {name: one == labels for name, one in decided.items()}
        gains = right["mixed_same"].astype(np.float64) - right["mixed_random"]
        return BackgroundsResult(
            num_images=len(images),
            total=images.total,
            size=images.view.size,
            chance=1 / len(images.classes),
            gap=Estimate.mean(gains, seed=subject.settings.seed),
            examples=_examples(images, changes, decided),
            **{name: Estimate.share(one) for name, one in right.items()},
        )

    def passes(self, subject: Subject) -> Passes:
        check_annotated(subject.data)
        images = len(subject.labeled(MAX_IMAGES))
        return Passes(changed=3 * images, plain=images)

    def metrics(self, result: BackgroundsResult, baseline: BackgroundsResult | None) -> Metrics:
        note = f"{result.num_images} images with annotated objects"
        return {
            "background_only_accuracy": Metric.of(
                "Accuracy on backgrounds without their objects",
                result.only_background,
                better="lower",
                note=f"{percent(result.chance)} by chance",
            ),
            "background_gap": Metric.of(
                "Accuracy that a background of another class costs",
                result.gap,
                better="lower",
                note=note,
            ),
            "background_same_accuracy": Metric.of(
                "Accuracy on other backgrounds of the own class",
                result.mixed_same,
                better="higher",
                headline=False,
            ),
            "background_random_accuracy": Metric.of(
                "Accuracy on backgrounds of other classes",
                result.mixed_random,
                better="higher",
                headline=False,
            ),
        }

    def exhibits(
        self, results: Mapping[str, BackgroundsResult], baseline: BackgroundsResult | None
    ) -> list[Exhibit]:
        series = {
            name: Bars.of([getattr(one, key) for key in _TITLES]) for name, one in results.items()
        }
        first = next(iter(results.values()))
        figure = bars(list(_TITLES.values()), series, "accuracy", levels={"chance": first.chance})
        shown: list[Exhibit] = [
            Plot("Accuracy with other backgrounds", figure, "With 95 % intervals."),
            Note(
                f"{first.num_images} images whose objects cover 2 to 90 % of what the model sees."
            ),
        ]
        for name, one in results.items():
            if one.examples:
                columns = tuple(title.capitalize() for title in _TITLES.values())
                shown.append(Pictures(f"The same objects: {name}", one.examples, columns))
        return shown

    def finding(self, result: BackgroundsResult) -> Finding | None:
        if result.gap.low <= 0 or result.gap.value < NOTABLE:
            return None
        text = f"loses {percent(result.gap.value)} of accuracy on backgrounds of another class"
        brief = "goes by what is around the object"
        return Finding(text, min(1.0, 2 * result.gap.value), brief)


def _with_objects(images: Prepared) -> tuple[Prepared, list[Mask]]:
    """The images whose objects are neither tiny nor everything, and where they are."""
    masks = foregrounds(images)
    shares = np.array([one.mean() for one in masks])
    rows = np.flatnonzero((shares >= LEAST) & (shares <= MOST))
    chosen = images.take(rows)
    if len(np.unique(chosen.required_labels())) < 2:
        raise NotApplicable(
            f"{len(rows)} of {len(images)} images have an object that covers 2 to 90 % of what the "
            "model sees; images of two classes are needed"
        )
    return chosen, [masks[row] for row in rows]


def _partners(labels: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each image (N,), another one of its class (itself if alone), and one of another class."""
    same, other = np.empty_like(labels), np.empty_like(labels)
    for row, label in enumerate(labels.tolist()):
        rng = generator(seed, "backgrounds", row)
        own = np.flatnonzero(labels == label)
        own = own[own != row] if len(own) > 1 else own
        same[row], other[row] = rng.choice(own), rng.choice(np.flatnonzero(labels != label))
    return same, other


def _examples(
    images: Prepared,
    changes: Mapping[str, Transform],
    decided: Mapping[str, NDArray[np.int64]],
) -> tuple[tuple[str, tuple[Picture, ...]], ...]:
    """Images that are lost on a background of another class come first."""
    labels = images.required_labels()
    lost = (decided["mixed_same"] == labels) & (decided["mixed_random"] != labels)
    rows = np.argsort(~lost, kind="stable")[:EXAMPLES]
    shown = []
    for row in rows.tolist():
        pixels = images.pixels(row)
        versions = {"plain": pixels, **{name: one(pixels, row) for name, one in changes.items()}}
        pictures = []
        for name, version in versions.items():
            answer = int(decided[name][row])
            mark = "good" if answer == labels[row] else "bad"
            pictures.append(picture(version, images.classes[answer], mark))
        shown.append((images.classes[labels[row]], tuple(pictures)))
    return tuple(shown)
