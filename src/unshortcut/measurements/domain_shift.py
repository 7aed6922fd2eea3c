"""Domain shift: accuracy on sketches, cartoons or other renditions of the classes of the data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import UNKNOWN, Estimate, difference, mean_estimate
from unshortcut.measuring.exhibits import MODEL, Cell, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars, chance_level
from unshortcut.measuring.shift_accuracy import (
    Count,
    DomainShiftResult,
    Shift,
    measure_shift,
    most_images,
)
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent, some
from unshortcut.progress import OnProgress, part_of

LARGE = 0.5
"""Only a loss of this size or more can have the highest weight."""
NOTABLE = 0.05
"""Smallest loss that the verdict mentions."""
HIGHEST_WEIGHT = 0.9
"""Weight of losing all accuracy above chance."""
MAX_LISTED = 20
"""Limit on the class names in a note."""

Results = Mapping[str, DomainShiftResult]


class DomainShift(Measurement[DomainShiftResult]):
    """Accuracy in other domains compared with that on the data, on the classes of both."""

    name = "domain_shift"
    title = "Domain shift"
    question = "Does the model still recognize its classes when they are drawn or painted?"
    definition = (
        "Accuracy on other data sets with the same classes. Only the classes that a data set "
        "shares with the data are used, and the model decides among these alone on both, so that "
        "the two accuracies are comparable (as in the evaluation of ImageNet-R, Hendrycks et al. "
        "2021). Classes are the same if they belong to the same outputs of the model, by name or "
        "by a mapping file. The drop is the accuracy on the data minus the accuracy on the shifted "
        "data. For more than ten classes, top-5 accuracy counts a label among the five likeliest "
        "classes as right. Intervals are 95 %, Wilson's for accuracies and Newcombe's for the "
        "drop. Sketches lack texture and color, so accuracy that is lost on them depended on "
        "texture and color."
    )
    order = 70
    quick = True
    needs = ("shifts",)
    version = 2
    gives = ("shift_accuracy", "shift_drop", "shift_accuracy_*", "shift_top5_*", "shift_drop_*")
    result = DomainShiftResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> DomainShiftResult:
        """Measure every domain; one that cannot be measured does not stop the others."""
        shifts: list[Shift] = []
        for name, source in subject.shifts.items():
            progress = part_of(on_progress, len(shifts), len(subject.shifts))
            try:
                shifts.append(measure_shift(subject, name, source, progress))
            except NotApplicable as error:
                shifts.append(Shift(name, reason=str(error)))
        if all(one.reason for one in shifts):
            raise NotApplicable("; ".join(f"{one.name}: {one.reason}" for one in shifts))
        return DomainShiftResult(tuple(shifts))

    def passes(self, subject: Subject) -> Passes:
        sizes, most = [len(one) for one in subject.shifts.values()], most_images(subject)
        shifted = sum(size if most is None else min(size, most) for size in sizes)
        plain = 0 if subject.data.labels is None else len(subject.labeled())
        return Passes(changed=shifted, plain=plain)

    def metrics(self, result: DomainShiftResult, baseline: DomainShiftResult | None) -> Metrics:
        """The means over all shifts, and each shift by its name."""
        title, accuracy = "Accuracy under shift", _mean_accuracy(result.measured)
        note = _averaged(result.measured)
        found = {"shift_accuracy": Metric.of(title, accuracy, better="higher", note=note)}
        compared = [one for one in result.measured if one.inside is not None]
        if compared:
            title, note = "Accuracy lost under shift", _averaged(compared)
            found["shift_drop"] = Metric.of(title, _mean_drop(compared), better="lower", note=note)
        for key, one in _by_key(result.measured).items():
            found[f"shift_accuracy_{key}"] = Metric.of(
                f"Accuracy on {one.name}",
                one.shifted.accuracy,
                better="higher",
                headline=False,
                note=f"{one.shifted.num_images} images, among {len(one.classes)} classes",
            )
            if (top5 := one.shifted.top5_accuracy) is not None:
                title = f"Top-5 accuracy on {one.name}"
                found[f"shift_top5_{key}"] = Metric.of(title, top5, better="higher", headline=False)
            if one.drop is not None and one.inside is not None:
                found[f"shift_drop_{key}"] = Metric.of(
                    f"Accuracy lost on {one.name}",
                    one.drop,
                    better="lower",
                    headline=False,
                    note=f"compared with {one.inside.num_images} images of the data",
                )
        return found

    def exhibits(self, results: Results, baseline: DomainShiftResult | None) -> list[Exhibit]:
        plot, examples = _plot(results), _examples(results)
        return [plot, _summary(results), examples, _by_class(results), *_notes(results)]

    def finding(self, result: DomainShiftResult) -> Finding | None:
        """The largest loss that is significant."""
        losses = [
            (one, one.inside.accuracy.value, one.drop.value)
            for one in result.measured
            if one.inside is not None
            and one.drop is not None
            and one.drop.low > 0
            and one.inside.accuracy.low > 1 / len(one.classes)  # else there is nothing to lose
        ]
        if not losses:
            return None
        one, inside, drop = max(losses, key=lambda loss: loss[2])
        if drop < NOTABLE:
            return None
        above = max(inside - 1 / len(one.classes), drop)
        return Finding(
            f"loses {100 * drop:.0f} points of accuracy on {one.name} (from {percent(inside)} to "
            f"{percent(inside - drop)})",
            HIGHEST_WEIGHT * min(drop / above, drop / LARGE),
            f"loses much of its accuracy on {one.name}",
        )


def _averaged(shifts: Sequence[Shift]) -> str:
    return f"mean of {len(shifts)} shifts" if len(shifts) > 1 else shifts[0].name


def _mean_accuracy(shifts: Sequence[Shift]) -> Estimate:
    return mean_estimate([one.shifted.accuracy for one in shifts], independent=True)


def _mean_drop(shifts: Sequence[Shift]) -> Estimate:
    """The mean drop; all shifts use much the same images of the data, so errors do not cancel."""
    inside = [one.inside.accuracy for one in shifts if one.inside is not None]
    return difference(mean_estimate(inside, independent=False), _mean_accuracy(shifts))


def _by_key(shifts: Sequence[Shift]) -> dict[str, Shift]:
    """Shifts by unique names for `--require`, of lowercase letters, digits and underscores."""
    found: dict[str, Shift] = {}
    for one in shifts:
        plain = re.sub(r"[^a-z0-9]+", "_", one.name.lower()).strip("_") or "shift"
        key, number = plain, 1
        while key in found:
            number += 1
            key = f"{plain}_{number}"
        found[key] = one
    return found


def _plot(results: Results) -> Plot:
    """The bars of the data come once if all shifts have the same classes, else before each."""
    measured = [one for _, one in _all(results)]
    same_classes = len({tuple(each.name for each in one.classes) for one in measured}) == 1
    groups: dict[str, dict[str, Estimate]] = {}
    for shift in dict.fromkeys(one.name for one in measured):
        title = "the data" if same_classes else f"the data, classes of {shift}"
        for model, one in _all(results):
            if one.name != shift:
                continue
            if one.inside is not None:
                groups.setdefault(title, {})[model] = one.inside.accuracy
            groups.setdefault(shift, {})[model] = one.shifted.accuracy
    series = {
        model: Bars.of([own.get(model, UNKNOWN) for own in groups.values()]) for model in results
    }
    levels = chance_level(1 / len(one.classes) for one in measured)
    return Plot(
        "Accuracy on the data and in other domains",
        bars(list(groups), series, "accuracy", levels=levels),
        "Over the classes that a shift shares with the data, with 95 % intervals.",
    )


def _summary(results: Results) -> Table:
    with_top5 = any(one.shifted.top5 is not None for _, one in _all(results))
    tip = "top-5 accuracy, over the shared classes"
    top5_columns = (
        Column("Top-5 on the data", percent=True, tip=tip),
        Column("Top-5 on the shift", percent=True, tip=tip),
    )
    columns = (
        Column("Shift"),
        MODEL,
        Column("On the data", percent=True, tip="accuracy on the data, over the shared classes"),
        Column("On the shift", percent=True, tip="accuracy on the shift"),
        *(top5_columns if with_top5 else ()),
        *Column.estimate(
            "Lost", percent=True, tip="accuracy on the data minus that on the shift", of="loss"
        ),
        Column("Images", tip="images of the shift"),
        Column("Classes", tip="classes to choose from"),
    )
    rows = []
    for model, one in _all(results):
        accuracy, count = _cells(one.shifted)
        lost = (None, None, None) if one.drop is None else astuple(one.drop)
        top5 = (_top5(one.inside), _top5(one.shifted)) if with_top5 else ()
        accuracies = (_cells(one.inside)[0], accuracy, *top5, *lost)
        rows.append((one.name, model, *accuracies, count, len(one.classes)))
    return Table("Accuracy in other domains", columns, rows)


def _examples(results: Results) -> Pictures:
    order = list(dict.fromkeys(one.name for result in results.values() for one in result.shifts))
    return Pictures(
        "Examples",
        tuple(
            (one.name if len(results) == 1 else f"{one.name}: {model}", one.examples)
            for model, one in sorted(_all(results), key=lambda pair: order.index(pair[1].name))
        ),
        caption="Chosen at random from different classes, the same for all models. The caption is "
        "the prediction with its confidence and, if that is wrong, the label.",
    )


def _by_class(results: Results) -> Table:
    columns = (
        Column("Shift"),
        Column("Class"),
        MODEL,
        Column("On the data", percent=True),
        Column("Images", tip="images of the data"),
        Column("On the shift", percent=True),
        Column("Images", tip="images of the shift"),
        Column("Confused with", tip="the most frequent wrong prediction on the shift"),
    )
    rows = []
    for model, shift in _all(results):
        for one in shift.classes:
            counts = (*_cells(one.inside), *_cells(one.shifted))
            rows.append((shift.name, one.name, model, *counts, one.mistaken or None))
    return Table("Accuracy by class", columns, rows, folded=True)


def _notes(results: Results) -> list[Note]:
    """Each remark once, with the models that it applies to unless it applies to all."""
    about: dict[tuple[str, bool], list[str]] = {}
    for model, result in results.items():
        for one in result.shifts:
            for remark in _remarks(one):
                about.setdefault(remark, []).append(model)
    return [
        Note(text if len(models) == len(results) else f"{', '.join(models)}: {text}", warning)
        for (text, warning), models in about.items()
    ]


def _remarks(one: Shift) -> Iterator[tuple[str, bool]]:
    """What a reader needs to know about a shift, and whether it is a warning."""
    if one.reason:
        yield f"{one.name} could not be measured: {one.reason}.", True
    if one.alone:
        yield f"{one.name} has no accuracy on the data to compare with: {one.alone}.", False
    if one.unmatched:
        yield f"{one.name}: {_listed(one.unmatched)} without a match left out.", False
    if one.absent:
        yield f"{one.name} lacks {_listed(one.absent)} of the data.", False


def _listed(names: Sequence[str]) -> str:
    noun = "class" if len(names) == 1 else "classes"
    return f"{len(names)} {noun} ({some(names, MAX_LISTED)})"


def _all(results: Results) -> list[tuple[str, Shift]]:
    """Every pair of a model and a shift on which it was measured."""
    return [(model, one) for model, result in results.items() for one in result.measured]


def _cells(count: Count | None) -> tuple[Cell, Cell]:
    return (None, None) if count is None else (count.accuracy.value, count.num_images)


def _top5(count: Count | None) -> Cell:
    found = None if count is None else count.top5_accuracy
    return None if found is None else found.value
