"""Coarse versus fine classes: whether a model's errors stay among similar classes.

As in Ge et al. (2021, figure 6 d), an image of a dog counts as correct in the coarse sense if any
class of dogs is predicted: the fine decision is made first and then mapped to its coarse class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.measurement import Finding, Metric, Metrics, OnPlainImages
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import MODEL, Cell, Column, Exhibit, Note, Plot, Table
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent, some
from unshortcut.progress import OnProgress

FEW_ERRORS = 20
"""With fewer errors the verdict does not mention them."""
NOTABLE = 0.15
"""Smallest difference between coarse and fine accuracy that the verdict mentions."""


@dataclass(frozen=True)
class CoarseClass:
    """Counts over the images of one coarse class."""

    name: str
    num_classes: int
    """Its fine classes that the model can predict."""
    num_images: int
    fine_right: int
    coarse_right: int
    """Images whose predicted fine class belongs to the coarse class."""
    summed_right: int
    """Images for which the fine classes of the coarse class have the largest summed probability."""

    @property
    def num_errors(self) -> int:
        """Number of wrong fine decisions."""
        return self.num_images - self.fine_right

    def estimates(self) -> tuple[Estimate, Estimate, Estimate, Estimate]:
        """Fine accuracy, coarse accuracy, coarse accuracy by summed probability, errors within."""
        right = (self.fine_right, self.coarse_right, self.summed_right)
        fine, coarse, summed = (Estimate.counted(one, self.num_images) for one in right)
        within = Estimate.counted(self.coarse_right - self.fine_right, self.num_errors)
        return fine, coarse, summed, within


@dataclass(frozen=True)
class CoarseResult:
    """Counts by coarse class, over the images whose fine class is in the hierarchy."""

    groups: tuple[CoarseClass, ...]
    within_by_chance: float
    """Share of the errors that would stay within the coarse class if all wrong classes were equally
    likely; NaN without errors."""
    num_choices: int
    """Fine classes that the model can predict."""
    missing: tuple[str, ...]
    """Classes of the data that are not in the hierarchy; their images are not counted."""

    @property
    def total(self) -> CoarseClass:
        """The counts over all images."""
        counts = [(g.num_images, g.fine_right, g.coarse_right, g.summed_right) for g in self.groups]
        return CoarseClass("all", self.num_choices, *np.sum(counts, axis=0).tolist())


Results = Mapping[str, CoarseResult]


class Coarse(OnPlainImages[CoarseResult]):
    """Accuracy of coarse and fine decisions, given a hierarchy of classes."""

    name = "coarse"
    title = "Coarse versus fine classes"
    question = "When the model is wrong, does it at least predict a similar class?"
    definition = (
        "The hierarchy assigns each fine class to a coarse class. Fine accuracy is the share of "
        "images whose class is predicted. Coarse accuracy is the share of images whose predicted "
        "class has the same coarse class as the label: the fine decision is made first and then "
        "mapped (Ge et al. 2021, figure 6 d). Coarse accuracy by summed probability predicts the "
        "coarse class whose fine classes have the largest probability together. The model decides "
        "among the classes of the data and those other classes of the hierarchy that it knows. "
        "Errors within the coarse class are the share of wrong fine decisions whose coarse class "
        "is right; the value by chance assumes that every wrong class is equally likely. Coarse "
        "classes differ in shape, fine ones often in texture."
    )
    order = 100
    needs = ("hierarchy",)
    gives = ("coarse_accuracy", "fine_accuracy", "coarse_accuracy_summed", "errors_within_coarse")
    result = CoarseResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> CoarseResult:
        assert subject.hierarchy is not None
        outputs, coarse = choices(subject.decisions, subject.classes, subject.hierarchy)
        missing = without_coarse(outputs, coarse, subject.classes, subject.hierarchy)
        images = subject.labeled()
        labels = images.required_labels()
        known = [row for row, at in enumerate(labels) if images.classes[at] not in missing]
        images = images.take(known)
        # The classes of the data come first among the outputs, so labels are valid for both.
        probabilities = subject.probabilities(images, None, on_progress, selection=outputs)
        return coarse_accuracy(probabilities, images.required_labels(), coarse, missing=missing)

    def metrics(self, result: CoarseResult, baseline: CoarseResult | None) -> Metrics:
        fine, coarse, summed, within = result.total.estimates()
        note, num_errors = f"{result.total.num_images} images", result.total.num_errors
        among = f"{note}, among {result.num_choices} classes"
        by_chance = f"of {num_errors} errors; {percent(result.within_by_chance)} by chance"
        errors_note = by_chance if num_errors else "no errors"
        title = "Coarse accuracy by summed probability"
        detail = partial(Metric.of, better="higher", headline=False)
        return {
            "coarse_accuracy": Metric.of("Coarse accuracy", coarse, better="higher", note=note),
            "fine_accuracy": detail("Fine accuracy", fine, note=among),
            "coarse_accuracy_summed": detail(title, summed, note=note),
            "errors_within_coarse": Metric.of(
                "Errors within the coarse class", within, note=errors_note
            ),
        }

    def exhibits(self, results: Results, baseline: CoarseResult | None) -> list[Exhibit]:
        series = {name: Bars.of(result.total.estimates()[:3]) for name, result in results.items()}
        return [
            Plot(
                "Accuracy on fine and coarse classes",
                bars(("fine", "coarse", "coarse, summed"), series, "accuracy"),
                "Coarse uses the coarse class of the fine decision; summed uses the total "
                "probability of the fine classes of each coarse class. With 95 % intervals.",
            ),
            _summary(results),
            _by_class(results),
            *_notes(results),
        ]

    def finding(self, result: CoarseResult) -> Finding | None:
        """Errors that are as random as chance, or a large gap between coarse and fine accuracy."""
        if result.total.num_errors < FEW_ERRORS:
            return None
        fine, coarse, _, within = result.total.estimates()
        if within.low <= result.within_by_chance:
            brief, chance = "confuses dissimilar classes", percent(result.within_by_chance)
            text = f"only {percent(within.value)} of its errors stay within the coarse class"
            return Finding(f"{brief}: {text} ({chance} by chance)", 0.4, brief)
        if coarse.value - fine.value >= NOTABLE:
            brief = "recognizes coarse classes better than fine ones"
            versus = f"{percent(coarse.value)} versus {percent(fine.value)}"
            return Finding(f"{brief} ({versus})", 0.2, brief)
        return None


def coarse_accuracy(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    coarse: Sequence[str | None],
    *,
    missing: tuple[str, ...] = (),
) -> CoarseResult:
    """The result for probabilities (N, K) and labels (N,), which all have a coarse class.

    Args:
        coarse: the coarse class of each of the K fine classes. A fine class with None forms a
            coarse class of its own without images, so predicting it is wrong in every sense.
    """
    names = tuple(dict.fromkeys(name for name in coarse if name is not None))
    index = {name: at for at, name in enumerate(names)}
    alone = iter(range(len(names), len(names) + len(coarse)))
    parent = np.array([next(alone) if one is None else index[one] for one in coarse])
    truth, decided = parent[labels], probabilities.argmax(axis=1)
    summed = np.stack(
        [probabilities[:, parent == group].sum(axis=1) for group in range(parent.max() + 1)], axis=1
    )
    fine = decided == labels
    mapped, by_sum = parent[decided] == truth, summed.argmax(axis=1) == truth
    sizes = np.bincount(parent)
    by_chance = (sizes[truth[~fine]] - 1) / max(1, len(coarse) - 1)
    groups = []
    for at, name in enumerate(names):
        own = truth == at
        if own.any():
            counts = [int(right[own].sum()) for right in (fine, mapped, by_sum)]
            groups.append(CoarseClass(name, int(sizes[at]), int(own.sum()), *counts))
    within = float(by_chance.mean()) if len(by_chance) else float("nan")
    return CoarseResult(tuple(groups), within, len(coarse), missing)


def choices(
    classifier: Classifier, data: Sequence[str], hierarchy: Mapping[str, str]
) -> tuple[ClassOutputs, tuple[str | None, ...]]:
    """The fine classes that a classifier can predict, and the coarse class of each, if any.

    They are the classes of the data, and the other classes of the hierarchy that it knows, because
    a dog may be taken for a cat even if the data has only dogs. A class of the data that has
    another name in the hierarchy is identified by its outputs.
    """
    everything = classifier.over(tuple(dict.fromkeys((*data, *hierarchy))))
    outputs = dict(zip(everything.names, everything.members, strict=True))
    by_outputs = {outputs[name]: coarse for name, coarse in hierarchy.items() if name in outputs}
    chosen = {name: outputs[name] for name in data if name in outputs}
    taken = {output for members in chosen.values() for output in members}
    for name in hierarchy:
        if name in outputs and not taken.intersection(outputs[name]):
            chosen[name] = outputs[name]
            taken.update(outputs[name])
    return (
        replace(everything, names=tuple(chosen), members=tuple(chosen.values()), missing=()),
        tuple(hierarchy.get(name, by_outputs.get(members)) for name, members in chosen.items()),
    )


def without_coarse(
    outputs: ClassOutputs,
    coarse: Sequence[str | None],
    data: Sequence[str],
    hierarchy: Mapping[str, str],
) -> tuple[str, ...]:
    """The classes of the data without a coarse class, given the result of `choices`.

    Raises `NotApplicable` if all are, or if there is only one coarse class.
    """
    coarse_of = dict(zip(outputs.names, coarse, strict=True))
    missing = tuple(name for name in data if coarse_of[name] is None)
    if len(missing) == len(data):
        raise NotApplicable(
            "the hierarchy has none of the classes of the data "
            f"(it has {some(list(hierarchy))}; the data has {some(missing)})"
        )
    distinct = set(coarse)
    if len(distinct) == 1:
        raise NotApplicable(
            f"all classes that the model can predict belong to '{distinct.pop()}', so every "
            "coarse decision is right; add other classes that the model knows to the hierarchy"
        )
    return missing


_WITHIN = Column("Errors within", percent=True, tip="share of errors within the coarse class")


def _summary(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Fine accuracy", percent=True),
        Column("Coarse accuracy", percent=True, tip="by the coarse class of the fine decision"),
        Column("Coarse, summed", percent=True, tip="by the summed probability of fine classes"),
        _WITHIN,
        Column("By chance", percent=True, tip="errors within if all wrong classes were as likely"),
        Column("Errors"),
        Column("Images"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        values = [one.value for one in result.total.estimates()]
        counts = (result.total.num_errors, result.total.num_images)
        rows.append((name, *values, result.within_by_chance, *counts))
    return Table("Fine and coarse accuracy", columns, rows)


def _by_class(results: Results) -> Table:
    columns = (
        Column("Coarse class"),
        MODEL,
        Column("Fine classes", tip="fine classes that the model can predict"),
        Column("Fine accuracy", percent=True),
        Column("Coarse accuracy", percent=True),
        _WITHIN,
        Column("Images"),
    )
    rows = []
    for name, result in results.items():
        for one in result.groups:
            fine, coarse, _, within = (each.value for each in one.estimates())
            rows.append((one.name, name, one.num_classes, fine, coarse, within, one.num_images))
    return Table("Accuracy by coarse class", columns, rows, folded=len(rows) > 12)


def _notes(results: Results) -> list[Note]:
    models: dict[tuple[str, ...], list[str]] = {}
    for name, result in results.items():
        models.setdefault(result.missing, []).append(name)
    return [
        Note(
            f"The hierarchy lacks {len(missing)} of the data's classes: {some(missing, 20)}. "
            "Their images are not counted; predicting one of them is an error outside every "
            f"coarse class ({', '.join(names)}).",
            warning=True,
        )
        for missing, names in models.items()
        if missing
    ]
