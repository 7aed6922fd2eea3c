"""Invariance: how far features move when images are rotated, recolored, smoothed or shuffled."""

from collections.abc import Mapping
from dataclasses import astuple

import numpy as np

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.invariance_profiles import VARIATIONS, InvarianceResult, profiles
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, Curve, bars, curves
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

MAX_IMAGES = Limit(quick=40, standard=150)
"""Each image is seen at every level of every variation."""
HARDLY, ANOTHER = 0.25, 0.8
"""Movements below the first count as none, those above the second as one to another image."""
_HEADLINES = ("rotation", "saturation", "patch_shuffle")
_SEEN_AS_ANOTHER = {
    ("saturation", 1.0): ("sees a gray copy of an image as a different image", 0.6),
    ("rotation", 90.0): ("sees an image rotated by 90° as a different image", 0.3),
}
"""Clause and weight for the verdict, by variation and level."""

Results = Mapping[str, InvarianceResult]


class Invariance(Measurement[InvarianceResult]):
    """How far features move under each variation of an image."""

    name = "invariance"
    title = "Invariance"
    question = "Which changes of an image does the model ignore, and which does it notice?"
    definition = (
        "Each image is changed at several strengths: rotated (with mirrored borders), shifted in "
        "hue, desaturated, zoomed, blurred, smoothed by anisotropic diffusion (kappa 20), or cut "
        "into patches that are shuffled. The movement is the cosine distance (1 − cosine) between "
        "the features of the changed and of the unchanged image, divided by the mean cosine "
        "distance between different images of the data. 0 means that the model does not notice the "
        "change, 1 that the features are as far away as those of another image. If there is a "
        "classifier, the share of unchanged decisions is given as well. Intervals are 95 %: a "
        "bootstrap over images, or Wilson's for shares."
    )
    order = 80
    gives = ("invariance_*", "same_decisions_*")
    result = InvarianceResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> InvarianceResult:
        images = subject.unlabeled(MAX_IMAGES)
        if len(images) < 2:
            raise NotApplicable("distances between images need at least two images")
        return profiles(subject, images, on_progress)

    def passes(self, subject: Subject) -> Passes:
        images = len(subject.unlabeled(MAX_IMAGES))
        return Passes(changed=sum(len(one.levels) for one in VARIATIONS) * images, plain=images)

    def metrics(self, result: InvarianceResult, baseline: InvarianceResult | None) -> Metrics:
        metrics = {}
        for one in result.profiles:
            metrics[f"invariance_{one.name}"] = Metric.of(
                f"Movement under {one.title.lower()}",
                one.mean,
                percent=False,
                headline=one.name in _HEADLINES,
                note="mean over its levels; 1 means as far as another image",
            )
            if one.same:
                metrics[f"same_decisions_{one.name}"] = Metric(
                    f"Unchanged decisions under {one.title.lower()}",
                    float(np.mean([same.value for same in one.same])),
                    headline=False,
                    note="mean over its levels",
                )
        return metrics

    def exhibits(self, results: Results, baseline: InvarianceResult | None) -> list[Exhibit]:
        one = next(iter(results.values()))
        examples = tuple((profile.title, profile.examples) for profile in one.profiles)
        units = "; ".join(f"{name} {result.between:.3f}" for name, result in results.items())
        note = (
            f"{one.num_images} of {one.total} images. The unit of movement is the mean cosine "
            f"distance between different images: {units}."
        )
        return [
            _summary(results),
            *(_curves(results, index) for index in range(len(one.profiles))),
            Pictures("One image at every level", examples),
            _table(results),
            Note(note),
        ]

    def finding(self, result: InvarianceResult) -> Finding | None:
        found = []
        shuffled = result.at("patch_shuffle", 4.0)
        if shuffled.high < HARDLY:
            brief = "hardly notices when the 4 × 4 patches of an image are shuffled"
            moves = f"(its features move {shuffled.value:.2f} of the distance to another image)"
            found.append(Finding(f"{brief} {moves}", 0.8 * (1 - shuffled.value), brief))
        for (name, level), (brief, weight) in _SEEN_AS_ANOTHER.items():
            movement = result.at(name, level)
            if movement.low >= ANOTHER:
                text = f"{brief} (its features move {movement.value:.2f} of the distance to one)"
                found.append(Finding(text, weight, brief))
        return max(found, key=lambda finding: finding.weight, default=None)


def _summary(results: Results) -> Plot:
    series = {
        name: Bars.of([one.mean for one in result.profiles]) for name, result in results.items()
    }
    titles = [one.title for one in next(iter(results.values())).profiles]
    figure = bars(titles, series, "movement", percent=False, levels={"another image": 1.0})
    caption = (
        "How far features move, relative to the distance to another image; mean over the levels of "
        "each change. Low values mean invariance; whether that is good depends on the change. A "
        "model that does not notice shuffled patches recognizes texture rather than shape."
    )
    return Plot("Movement of features", figure, caption)


def _curves(results: Results, index: int) -> Plot:
    """Lines from the unchanged image, which has not moved, through all levels."""
    profiles = {name: result.profiles[index] for name, result in results.items()}
    plain = Estimate(0.0, 0.0, 0.0)
    lines = {
        name: Curve.of((one.plain, *one.levels), (plain, *one.movement))
        for name, one in profiles.items()
    }
    one = next(iter(profiles.values()))
    figure = curves(lines, one.unit, "movement", percent=False, levels={"another image": 1.0})
    return Plot(one.title, figure, height=280)


def _table(results: Results) -> Table:
    decided = any(one.same for result in results.values() for one in result.profiles)
    columns = [
        MODEL,
        Column("Change"),
        Column("Level"),
        *Column.estimate("Movement", digits=2, tip="1 means as far as another image"),
        Column("Cosine", tip="mean cosine with the features of the unchanged image"),
    ]
    if decided:
        tip = "share of unchanged decisions"
        columns += Column.estimate("Same decision", percent=True, tip=tip)
    rows = []
    for name, result in results.items():
        for one in result.profiles:
            for i, label in enumerate(one.labels):
                row = [name, one.title, label, *astuple(one.movement[i]), one.cosine[i]]
                same = astuple(one.same[i]) if one.same else (None,) * 3
                rows.append([*row, *same] if decided else row)
    return Table("All levels", columns, rows, folded=True)
