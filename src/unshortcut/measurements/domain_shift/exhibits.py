"""What the page shows of accuracies in other domains."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

from unshortcut.measurements.domain_shift.accuracy import Count, DomainShiftResult, Shift
from unshortcut.measuring.estimates.estimate import UNKNOWN, Estimate
from unshortcut.measuring.exhibits import (
    MODEL,
    Cell,
    Column,
    Exhibit,
    Note,
    Pictures,
    Plot,
    Table,
    interval,
)
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.wording import some

LISTED = 20
"""Class names in a note, at most."""

Results = Mapping[str, DomainShiftResult]
"""By model."""


def shift_exhibits(results: Results) -> list[Exhibit]:
    """Bars, all figures, examples, every class, and what was left out."""
    return [
        _plot(results),
        _summary(results),
        _examples(results),
        _by_class(results),
        *_notes(results),
    ]


def _plot(results: Results) -> Plot:
    """Bars of the data stand once where all shifts have the same classes, else before each."""
    measured = [one for _, one in _all(results)]
    alike = len({tuple(each.name for each in one.classes) for one in measured}) == 1
    figures: dict[str, dict[str, Estimate]] = {}
    for shift in dict.fromkeys(one.name for one in measured):
        title = "the data" if alike else f"the data, classes of {shift}"
        for model, one in _all(results):
            if one.name != shift:
                continue
            if one.inside is not None:
                figures.setdefault(title, {})[model] = one.inside.accuracy
            figures.setdefault(shift, {})[model] = one.shifted.accuracy
    series = {
        model: Bars.of([own.get(model, UNKNOWN) for own in figures.values()]) for model in results
    }
    chance = {1 / len(one.classes) for one in measured}
    return Plot(
        "Accuracy in the data and in other domains",
        bars(
            list(figures),
            series,
            "accuracy",
            level=("chance", chance.pop()) if len(chance) == 1 else None,
        ),
        "Over the classes that a shift shares with the data. The bars end in 95 % intervals.",
    )


def _summary(results: Results) -> Table:
    columns = (
        Column("Shift"),
        MODEL,
        Column("In the data", percent=True, tip="accuracy on the data, over the shared classes"),
        Column("In the shift", percent=True, tip="accuracy on the shift"),
        Column("Lost", percent=True, tip="accuracy in the data minus that in the shift"),
        *interval("loss", percent=True),
        Column("Images", tip="of the shift"),
        Column("Classes", tip="that decisions are among"),
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
                one.shifted.images,
                len(one.classes),
            )
        )
    return Table("Accuracy in other domains", columns, tuple(rows))


def _examples(results: Results) -> Pictures:
    return Pictures(
        "Examples",
        tuple(
            (one.name if len(results) == 1 else f"{one.name}: {model}", one.examples)
            for model, one in sorted(_all(results), key=lambda pair: _place(results, pair[1]))
        ),
        caption="Drawn at random, one of a class, and the same for all models. Under each image "
        "is the decision with its confidence and, where that is wrong, the class.",
    )


def _by_class(results: Results) -> Table:
    columns = (
        Column("Shift"),
        Column("Class"),
        MODEL,
        Column("In the data", percent=True),
        Column("Images", tip="of the data"),
        Column("In the shift", percent=True),
        Column("Images", tip="of the shift"),
        Column("Taken for", tip="the wrong class that is decided for most often in the shift"),
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
    return Table("Each class", columns, rows, folded=True)


def _notes(results: Results) -> list[Note]:
    """Each once, with the models that it is about unless it is about all."""
    about: dict[tuple[str, bool], list[str]] = {}
    for model, result in results.items():
        for one in result.shifts:
            for said in _said(one):
                about.setdefault(said, []).append(model)
    return [
        Note(text if len(models) == len(results) else f"{', '.join(models)}: {text}", warning)
        for (text, warning), models in about.items()
    ]


def _said(one: Shift) -> Iterator[tuple[str, bool]]:
    """What must be known of a shift, and whether it is a warning."""
    if one.reason:
        yield f"{one.name} is not measured: {one.reason}.", True
    if one.alone:
        yield f"{one.name} stands alone, with no accuracy to compare with: {one.alone}.", False
    if one.unmatched:
        yield f"{one.name}: {_listed(one.unmatched)} left out, for want of a match.", False
    if one.absent:
        yield f"{one.name} lacks {_listed(one.absent)} of the data.", False


def _listed(names: Sequence[str]) -> str:
    noun = "class" if len(names) == 1 else "classes"
    return f"{len(names)} {noun} ({some(names, LISTED)})"


def _all(results: Results) -> list[tuple[str, Shift]]:
    """Every shift that a model was measured on, with the model."""
    return [(model, one) for model, result in results.items() for one in result.measured]


def _place(results: Results, shift: Shift) -> int:
    """Of a shift among those of the first model that has it."""
    names = list(dict.fromkeys(one.name for result in results.values() for one in result.shifts))
    return names.index(shift.name)


def _cells(count: Count | None) -> tuple[Cell, Cell]:
    return (None, None) if count is None else (count.accuracy.value, count.images)
