"""Weak slices: images of a class that have something in common and on which a model fails."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.source import Subset
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
from unshortcut.measuring.property_slices import Condition, find_property_slice
from unshortcut.measuring.slices import FEWEST, Slice, find_slice, halves
from unshortcut.measuring.subjects.images import Indices, Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress
from unshortcut.properties.columns import Column as Values
from unshortcut.properties.reading import inspect_source

LEVEL = 0.05
"""Probability that any slice is reported although there is none, over all slices of a model."""
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
    property: str
    """The name of the property of files or pixels; empty for a direction in the features."""
    text: str
    """What its images have in common, e.g. `Brightness at most 0.3`; empty if unknown."""
    inside: Estimate
    """Accuracy on its images."""
    outside: Estimate
    """Accuracy on the other images of the class."""
    p: float
    """Of Fisher's exact test, before it is corrected for the number of slices."""
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class WeakSlicesResult:
    """The weak slices of one model, the largest gap first."""

    tried: int
    """Classes with enough images, errors and hits."""
    proposed: int
    """Slices that one half proposed and the other half decided on."""
    num_classes: int
    num_images: int
    slices: tuple[WeakSlice, ...]


@dataclass(frozen=True)
class _Proposal:
    """A slice of a class, which may turn out to be none."""

    label: int
    slice: Slice
    own: Indices
    """Positions of the images of the class, to which the slice refers."""
    condition: Condition | None = None


class WeakSlices(OnPlainImages[WeakSlicesResult]):
    """Where a class fails, and what these images have in common."""

    name = "weak_slices"
    title = "Weak slices"
    question = "Within a class, on which images does the model fail, and what do they share?"
    definition = (
        "One half of the images of a class proposes weak slices, and the other half decides. Two "
        "are proposed: the quarter of the class that lies furthest in the direction of the model's "
        "features that tells errors from hits (logistic regression), and the images above or below "
        "a bound of one property of files or pixels (or with one format, camera, …), the one that "
        "tells errors from hits best among all that `unshortcut inspect` knows; it has 10 to 50 % "
        "of the class. A proposal is a weak slice if it has more errors than the rest on the other "
        "half (Fisher's exact test, 5 % divided by the number of proposals of all classes). A "
        f"class needs {FEWEST} images and some errors. Images that are not files have sizes and "
        "pixels only. Intervals are 95 %: Wilson's, and Newcombe's for differences."
    )
    order = 48
    version = 3
    gives = ("weak_slices", "weakest_slice_gap")
    result = WeakSlicesResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> WeakSlicesResult:
        images = subject.labeled()
        outputs = subject.outputs(images, on_progress=on_progress)
        labels = images.required_labels()
        right = subject.probabilities(images).argmax(axis=1) == labels
        parts = {
            label: both
            for label in np.unique(labels).tolist()
            if (both := halves(right[labels == label], seed=subject.settings.seed)) is not None
        }
        if not parts:
            raise NotApplicable(
                f"no class has {FEWEST} images with both errors and hits among them"
            )
        columns = _properties(subject, images, np.flatnonzero(np.isin(labels, list(parts))))
        proposals: list[_Proposal] = []
        for label, both in parts.items():
            own = np.flatnonzero(labels == label)
            along = find_slice(outputs.features[own], right[own], both)
            proposals.append(_Proposal(label, along, own))
            of_class = {name: one.take(own) for name, one in columns.items()}
            by_property = find_property_slice(of_class, right[own], both)
            if by_property is not None:
                condition, found = by_property
                proposals.append(_Proposal(label, found, own, condition))
        weak = [
            _shown(images, right, one) for one in proposals if one.slice.p < LEVEL / len(proposals)
        ]
        weak.sort(key=lambda one: one.inside.value - one.outside.value)
        return WeakSlicesResult(
            len(parts), len(proposals), len(images.classes), len(images), tuple(weak)
        )

    def metrics(self, result: WeakSlicesResult, baseline: WeakSlicesResult | None) -> Metrics:
        metrics = {
            "weak_slices": Metric(
                "Classes with a weak slice",
                len({one.label for one in result.slices}),
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
                note=_name(worst),
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
                    f"{_name(one)}: {percent(one.inside.value)} right, elsewhere "
                    f"{percent(one.outside.value)}",
                    one.pictures,
                )
                for one in result.slices[: max(2, ROWS // len(results))]
            )
            caption = (
                "The most typical images of each slice. Where no property is named, the images are "
                "similar for the model: what do they have in common?"
            )
            shown.append(Pictures(f"Weak slices: {model}", rows, caption=caption))
        columns = (
            MODEL,
            Column("Class"),
            Column("What the images share"),
            Column("In the slice", percent=True),
            Column("Elsewhere", percent=True),
            *Column.estimate("Gap", percent=True, of="gap"),
            Column("p", digits=4, tip="Fisher's exact test on the half that did not propose it"),
        )
        listed = [_row(model, one) for model, result in results.items() for one in result.slices]
        return [*shown, Table("All weak slices", columns, listed, folded=True)] if listed else shown

    def finding(self, result: WeakSlicesResult) -> Finding | None:
        if not result.slices:
            return None
        worst = result.slices[0]
        group = (
            f"the images of '{worst.label}' with {_phrase(worst)}"
            if worst.text
            else f"a group of similar images of '{worst.label}'"
        )
        text = (
            f"is right on only {percent(worst.inside.value)} of {group}, against "
            f"{percent(worst.outside.value)} of the others"
        )
        return Finding(text, 0.4 * (worst.outside.value - worst.inside.value), f"fails on {group}")


def _properties(subject: Subject, images: Prepared, rows: Indices) -> dict[str, Values]:
    """Properties of the images at some positions; NaN at all others."""
    read = inspect_source(Subset(images.source, images.indices[rows]), workers=subject.workers)
    columns = {}
    for name, one in read.columns.items():
        values = np.full(len(images), np.nan)
        values[rows[read.indices]] = one.values
        columns[name] = Values(one.about, values, one.names)
    return columns


def _phrase(one: WeakSlice) -> str:
    """What the images share, inside a sentence; abbreviations stay in capitals."""
    first = one.text.split()[0]
    return one.text if first.isupper() else one.text[:1].lower() + one.text[1:]


def _name(one: WeakSlice) -> str:
    return f"{one.label}, {_phrase(one)}" if one.text else one.label


def _row(model: str, one: WeakSlice) -> tuple[str | float, ...]:
    gap = difference(one.outside, one.inside)
    return (
        model,
        one.label,
        one.text or "similar for the model",
        one.inside.value,
        one.outside.value,
        gap.value,
        gap.low,
        gap.high,
        one.p,
    )


def _shown(images: Prepared, right: NDArray[np.bool_], one: _Proposal) -> WeakSlice:
    members = one.own[one.slice.members][:SHOWN].tolist()
    return WeakSlice(
        images.classes[one.label],
        one.condition.column.about.name if one.condition else "",
        str(one.condition or ""),
        Estimate.counted(*one.slice.inside),
        Estimate.counted(*one.slice.outside),
        one.slice.p,
        tuple(
            picture(
                images.pixels(at), images.identity(at), "good" if right[at] else "bad", side=SIDE
            )
            for at in members
        ),
    )
