"""Components: what the logit of a class is made of, and the images that have most of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unshortcut.measurements.measurement import Metric, Metrics, OnPlainImages
from unshortcut.measuring.class_components import class_components
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    Table,
    picture,
)
from unshortcut.measuring.linear_head import Doubles, Head, Indices
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

COMPONENTS = 3
"""Components of each class that are shown."""
CLASSES = 12
"""Classes that are shown, at most: those with the most images."""
TOP = 4
"""Images that are shown of each component, of its class and of the others."""
FEWEST = 5
"""Images that a class needs."""
ROWS = 12
"""Components with pictures on a page, shared by all of its models; the table has all of them."""
SIDE = 96
"""Side of the pictures in pixels."""


@dataclass(frozen=True)
class Component:
    """One principal component of a class."""

    label: str
    number: int
    """From 1."""
    share: float
    """Share of the variance of the logit, over the images of the class."""
    lifted: float
    """Share of the images of other classes whose logit it lifts as much as that of the median
    image among the `TOP` of its class."""
    own: tuple[Picture, ...]
    others: tuple[Picture, ...]

    @property
    def name(self) -> str:
        """How `unshortcut fix --components` calls it."""
        return f"{self.label}:{self.number}"


@dataclass(frozen=True)
class ComponentsResult:
    """The components of the classes of one model."""

    num_images: int
    num_classes: int
    components: tuple[Component, ...]


class Components(OnPlainImages[ComponentsResult]):
    """Class-wise principal components of weighted features."""

    name = "components"
    title = "Components"
    question = "What are the logits of a class made of, and which images have most of it?"
    definition = (
        "The logit of a class is the sum of the features, each times its weight. The principal "
        "components of these products over the images of the class share the logit out among "
        "directions (Neuhaus et al. 2023). Each row shows the images of the class, and those of "
        "other classes, to whose logit a component adds most. If images of other classes have "
        "nothing in common with those of the class but a background, a color or a tag, that is "
        "what the component stands for. `unshortcut fix --components CLASS:NUMBER` subtracts it. "
        "The share is that of the variance of the logit over the images of the class; the shares "
        "of all components of a class have the sum 1. Intervals are 95 %, a bootstrap over classes."
    )
    order = 45
    version = 2
    gives = ("component_share",)
    result = ComponentsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> ComponentsResult:
        head = subject.decisions.linear
        images = subject.labeled()
        outputs = subject.outputs(images, on_progress=on_progress)
        features = outputs.features.astype(np.float64)
        if head is None or head.weight.shape[1] != features.shape[1]:
            raise NotApplicable("the classifier is not a linear layer on the model's features")
        rows = _rows_of(subject, head)
        labels = images.required_labels()
        counts = np.bincount(labels, minlength=len(images.classes))
        chosen = [int(one) for one in np.argsort(-counts, kind="stable")[:CLASSES]]
        found = [
            component
            for label in sorted(chosen)
            if counts[label] >= FEWEST and label in rows
            for component in _components(images, features, labels, label, head, rows[label])
        ]
        if not found:
            raise NotApplicable(f"no class has {FEWEST} images and an output of its own")
        return ComponentsResult(len(images), len(images.classes), tuple(found))

    def metrics(self, result: ComponentsResult, baseline: ComponentsResult | None) -> Metrics:
        first = np.array([one.share for one in result.components if one.number == 1])
        label = "Variance of a logit in its first component"
        return {"component_share": Metric.of(label, Estimate.mean_share(first), headline=False)}

    def exhibits(
        self, results: Mapping[str, ComponentsResult], baseline: ComponentsResult | None
    ) -> list[Exhibit]:
        shown: list[Exhibit] = [_bars(results)]
        most = max(3, ROWS // len(results))
        for model, result in results.items():
            # Those that images of other classes have, too, are the likeliest shortcuts.
            ranked = sorted(result.components, key=lambda one: (-one.lifted, -one.share))
            sheet = tuple(
                (f"{one.name}, {percent(one.share)} of the logit's variance", one.own + one.others)
                for one in ranked[:most]
            )
            blank = ("",) * (TOP - 1)
            heads = ("its class", *blank, "other classes", *blank)
            title = f"Images with most of each component: {model}"
            shown.append(Pictures(title, sheet, heads))
        columns = (
            MODEL,
            Column("Component", tip="class and number, for unshortcut fix --components"),
            Column("Share", percent=True, tip="of the variance of the logit of the class"),
            Column(
                "Lifted elsewhere",
                percent=True,
                tip="images of other classes that it lifts as much as the top images of its own",
            ),
        )
        rows = [
            (model, one.name, one.share, one.lifted)
            for model, result in results.items()
            for one in result.components
        ]
        shown.append(Table("All components", columns, rows, folded=True))
        images = max(result.num_images for result in results.values())
        shown.append(Note(f"Found among {images} images."))
        return shown


def _bars(results: Mapping[str, ComponentsResult]) -> Plot:
    """The share of the first component of each class."""
    firsts = {
        model: {one.label: one.share for one in result.components if one.number == 1}
        for model, result in results.items()
    }
    names = list(dict.fromkeys(name for one in firsts.values() for name in one))
    series = {
        model: Bars([one.get(name, math.nan) for name in names]) for model, one in firsts.items()
    }
    figure = bars(names, series, "share of the variance")
    caption = "A class whose logit varies along one direction goes by few things."
    return Plot("First component of each class", figure, caption, height=300)


def _rows_of(subject: Subject, head: Head) -> dict[int, int]:
    """The row of the head for each class of the data that has exactly one."""
    native = subject.decisions.classes
    assert len(native) == len(head.bias)
    return {
        label: native.index(name) for label, name in enumerate(subject.classes) if name in native
    }


def _components(
    images: Prepared, features: Doubles, labels: Indices, label: int, head: Head, row: int
) -> list[Component]:
    own, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
    found = class_components(features[own], head, row, COMPONENTS)
    shares = found.shares(features, head)  # (N, K)
    total = head.logits(features[own])[:, row].var()
    components = []
    for number in range(len(found.directions)):
        values = shares[:, number]
        top = own[np.argsort(-values[own], kind="stable")[:TOP]]
        elsewhere = others[np.argsort(-values[others], kind="stable")[:TOP]]
        bound = float(np.median(values[top]))
        components.append(
            Component(
                images.classes[label],
                number + 1,
                float(values[own].var() / total) if total > 0 else 0.0,
                float((values[others] >= bound).mean()) if len(others) else 0.0,
                tuple(
                    picture(images.pixels(at), images.identity(at), side=SIDE)
                    for at in top.tolist()
                ),
                tuple(
                    picture(images.pixels(at), images.classes[labels[at]], side=SIDE)
                    for at in elsewhere.tolist()
                ),
            )
        )
    return components
