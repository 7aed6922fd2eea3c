"""Weak slices: groups of similar images within a class on which a model fails."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Finding, Metric, Metrics, OnPlainImages
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate, difference
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Table,
    picture,
)
from unshortcut.measuring.slices import FEWEST, SHARE, Slice, find_slice
from unshortcut.measuring.subjects.images import Indices, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

LEVEL = 0.05
"""Probability that any slice is reported although there is none, over all classes of a model."""
SHOWN = 6
"""Images of a slice that are shown."""
ROWS = 12
"""Slices with pictures on a page, shared by all of its models; the table has all of them."""
SIDE = 96
"""Side of the pictures in pixels."""


@dataclass(frozen=True)
class WeakSlice:
    """A slice whose gap holds on the images that did not propose it."""

    label: str
    inside: Estimate
    """Accuracy on its images."""
    outside: Estimate
    """Accuracy on the other images of the class."""
    p: float
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class WeakSlicesResult:
    """The weak slices of one model, the largest gap first."""

    tried: int
    """Classes with enough images, errors and hits."""
    num_classes: int
    num_images: int
    slices: tuple[WeakSlice, ...]


class WeakSlices(OnPlainImages[WeakSlicesResult]):
    """Where a class fails, and what these images have in common."""

    name = "weak_slices"
    title = "Weak slices"
    question = "Are there similar images within a class on which the model fails?"
    definition = (
        "In each class, one half of the images proposes a direction in the model's features that "
        "tells errors from hits (logistic regression), and the other half decides: the quarter of "
        "its images that lies furthest in that direction is a weak slice if it has more errors "
        "than the rest (Fisher's exact test, 5 % divided by the number of classes tried). A class "
        f"needs {FEWEST} images and some errors. What the images of a slice have in common is for "
        "the reader to see. Intervals are Wilson's, 95 %."
    )
    order = 48
    version = 2
    gives = ("weak_slices", "weakest_slice_gap")
    result = WeakSlicesResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> WeakSlicesResult:
        images = subject.labeled()
        outputs = subject.outputs(images, on_progress=on_progress)
        labels = images.required_labels()
        right = subject.probabilities(images).argmax(axis=1) == labels
        found: dict[int, Slice] = {}
        for label in np.unique(labels).tolist():
            own = np.flatnonzero(labels == label)
            one = find_slice(outputs.features[own], right[own], seed=subject.settings.seed)
            if one is not None:
                found[label] = one
        if not found:
            raise NotApplicable(
                f"no class has {FEWEST} images with both errors and hits among them"
            )
        weak = [
            _shown(images, right, np.flatnonzero(labels == label), label, one)
            for label, one in found.items()
            if one.p < LEVEL / len(found)
        ]
        weak.sort(key=lambda one: one.inside.value - one.outside.value)
        return WeakSlicesResult(len(found), len(images.classes), len(images), tuple(weak))

    def metrics(self, result: WeakSlicesResult, baseline: WeakSlicesResult | None) -> Metrics:
        metrics = {
            "weak_slices": Metric(
                "Classes with a weak slice",
                len(result.slices),
                percent=False,
                better="lower",
                note=f"of {result.tried} classes with enough errors",
            )
        }
        if result.slices:
            worst = result.slices[0]
            metrics["weakest_slice_gap"] = Metric.of(
                "Accuracy that the weakest slice lacks",
                difference(worst.outside, worst.inside),
                better="lower",
                headline=False,
                note=f"'{worst.label}'",
            )
        return metrics

    def exhibits(
        self, results: Mapping[str, WeakSlicesResult], baseline: WeakSlicesResult | None
    ) -> list[Exhibit]:
        shown: list[Exhibit] = []
        for model, result in results.items():
            if not result.slices:
                shown.append(
                    Note(f"{model}: no weak slice in {result.tried} classes with enough errors.")
                )
                continue
            rows = tuple(
                (
                    f"{one.label}: {percent(one.inside.value)} right, elsewhere "
                    f"{percent(one.outside.value)}",
                    one.pictures,
                )
                for one in result.slices[: max(2, ROWS // len(results))]
            )
            caption = "The most typical images of each slice. What do they have in common?"
            shown.append(Pictures(f"Weak slices: {model}", rows, caption=caption))
        columns = (
            MODEL,
            Column("Class"),
            Column("In the slice", percent=True, tip=f"a quarter ({SHARE:.0%}) of the class"),
            Column("Elsewhere", percent=True),
            Column("p", digits=4, tip="Fisher's exact test on the half that did not propose it"),
        )
        listed = [
            (model, one.label, one.inside.value, one.outside.value, one.p)
            for model, result in results.items()
            for one in result.slices
        ]
        return [*shown, Table("All weak slices", columns, listed, folded=True)] if listed else shown

    def finding(self, result: WeakSlicesResult) -> Finding | None:
        if not result.slices:
            return None
        worst = result.slices[0]
        text = (
            f"is right on only {percent(worst.inside.value)} of a group of similar images of "
            f"'{worst.label}', against {percent(worst.outside.value)} of the others"
        )
        brief = f"fails on a group of similar images of '{worst.label}'"
        return Finding(text, 0.4 * (worst.outside.value - worst.inside.value), brief)


def _shown(
    images: Prepared, right: NDArray[np.bool_], own: Indices, label: int, one: Slice
) -> WeakSlice:
    members = own[one.members][:SHOWN].tolist()
    return WeakSlice(
        images.classes[label],
        Estimate.counted(*one.inside),
        Estimate.counted(*one.outside),
        one.p,
        tuple(
            picture(
                images.pixels(at), images.identity(at), "good" if right[at] else "bad", side=SIDE
            )
            for at in members
        ),
    )
