"""Plots, tables and examples of accuracies in other domains."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

from unshortcut.measurements.domain_shift.accuracy import Count, DomainShiftResult, Shift
from unshortcut.measuring.estimates import UNKNOWN, Estimate
from unshortcut.measuring.exhibits import MODEL, Cell, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, bars, chance_level
from unshortcut.measuring.wording import some

MAX_LISTED = 20
"""Limit on the class names in a note."""

Results = Mapping[str, DomainShiftResult]
"""Results by model."""


def shift_exhibits(results: Results) -> list[Exhibit]:
    """The exhibits of one or more models, in the order of the page."""
    return [
        _plot(results),
        _summary(results),
        _examples(results),
        _by_class(results),
        *_notes(results),
    ]


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
    columns = (
        Column("Shift"),
        MODEL,
        Column("On the data", percent=True, tip="accuracy on the data, over the shared classes"),
        Column("On the shift", percent=True, tip="accuracy on the shift"),
        Column("Lost", percent=True, tip="accuracy on the data minus that on the shift"),
        *Column.interval("loss", percent=True),
        Column("Images", tip="images of the shift"),
        Column("Classes", tip="classes to choose from"),
    )
    rows = []
    for model, one in _all(results):
        drop = one.drop
        lost = (None, None, None) if drop is None else astuple(drop)
        rows.append(
            (
                one.name,
                model,
                _cells(one.inside)[0],
                one.shifted.accuracy.value,
                *lost,
                one.shifted.num_images,
                len(one.classes),
            )
        )
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
    rows = tuple(
        (
            one.name,
            each.name,
            model,
            *_cells(each.inside),
            *_cells(each.shifted),
            each.mistaken or None,
        )
        for model, one in _all(results)
        for each in one.classes
    )
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
