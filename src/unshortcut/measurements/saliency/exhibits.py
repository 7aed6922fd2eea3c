"""What is shown of saliency: coverage by model and case, and maps of the same images."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import zip_longest

from unshortcut.measurements.saliency.maps import Coverages, SaliencyResult, coverages
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
from unshortcut.measuring.wording import percent

ROWS = 12
"""Images that are shown, of each case as many as of another where there are enough."""
MANY_EMPTY = 0.1
"""Share of empty maps from which on the reader is warned."""

Results = Mapping[str, SaliencyResult]


def saliency_exhibits(results: Results) -> list[Exhibit]:
    """For one model or several."""
    cases = _cases(results)
    found = {
        case: {
            name: coverages([one for one in result.looked if one.index in indices])
            for name, result in results.items()
        }
        for case, indices in cases.items()
        if indices
    }
    shown: list[Exhibit] = [*_pictures(results, cases), _summary(results)]
    if found:
        shown += [_bars(results, found), _by_case(found)]
    return shown + _notes(results)


def _cases(results: Results) -> dict[str, list[int]]:
    """Indices of the images that all models looked at, by who was right (figures 2.14 to 2.17)."""
    right = [{one.index: one.right for one in result.looked} for result in results.values()]
    names = list(results)
    common = [index for index in right[0] if all(index in known for known in right)]
    cases: dict[tuple[bool, ...], str]
    if len(names) == 1:
        cases = {(True,): "right", (False,): "wrong"}
    elif len(names) == 2:
        cases = {
            (True, True): "both right",
            (True, False): f"only {names[0]} right",
            (False, True): f"only {names[1]} right",
            (False, False): "both wrong",
        }
    else:
        cases = {(True,): "all right", (True, False): "some right", (False,): "all wrong"}
    found: dict[str, list[int]] = {case: [] for case in cases.values()}
    for index in common:
        flags = tuple(known[index] for known in right)
        if len(names) > 2:
            flags = tuple(sorted(set(flags), reverse=True))
        found[cases[flags]].append(index)
    return found


def _pictures(results: Results, cases: Mapping[str, Sequence[int]]) -> list[Pictures]:
    shown = [{one.index: one for one in result.shown} for result in results.values()]
    truth = {one.index: one.truth for result in results.values() for one in result.looked}
    known = {
        case: [index for index in indices if all(index in one for one in shown)]
        for case, indices in cases.items()
    }
    turns = zip_longest(*known.values())
    chosen = [index for turn in turns for index in turn if index is not None][:ROWS]
    rows = tuple(
        (f"{case}: {truth[index]}", (shown[0][index].plain, *(one[index].map for one in shown)))
        for case, indices in known.items()
        for index in indices
        if index in chosen
    )
    if not rows:
        return []
    return [
        Pictures(
            "Where the models look" if len(results) > 1 else "Where the model looks",
            rows,
            ("image", *results),
            "Warm colors mark what speaks for the decision that is written below. The frame tells "
            "right from wrong.",
        )
    ]


def _summary(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Layer", tip="of the model, whose maps are weighted"),
        Column("Places", tip="size of the map before it is enlarged"),
        Column("Images"),
        Column("Empty maps", percent=True, tip="maps in which no place speaks for the decision"),
    )
    rows = tuple(
        (name, one.layer, f"{one.side} × {one.side}", len(one.looked), one.empty)
        for name, one in results.items()
    )
    return Table("The maps", columns, rows)


def _bars(results: Results, found: Mapping[str, Mapping[str, Coverages]]) -> Plot:
    series = {name: Bars.of([by[name].area for by in found.values()]) for name in results}
    figure = bars(list(found), series, "area that is salient")
    return Plot("Area, by who is right", figure, "Bars end in 95 % intervals.")


def _by_case(found: Mapping[str, Mapping[str, Coverages]]) -> Table:
    columns = (
        Column("Case"),
        MODEL,
        Column("Images", tip="whose map is not empty"),
        Column("Area", percent=True, tip="share of the image that is salient"),
        *interval(percent=True),
        Column("Edges", percent=True, tip="share of the image's edges that is salient"),
        *interval(percent=True),
        Column("Edges over area", digits=2, tip="1 where the map does not care for edges"),
        *interval(digits=2),
    )
    rows: list[tuple[Cell, ...]] = [
        (case, name, *_values(one)) for case, by in found.items() for name, one in by.items()
    ]
    return Table("Coverage, by who is right", columns, tuple(rows), folded=True)


def _values(one: Coverages) -> tuple[Cell, ...]:
    return (one.images, *astuple(one.area), *astuple(one.edges), *astuple(one.lift))


def _notes(results: Results) -> list[Exhibit]:
    notes: list[Exhibit] = []
    for name, result in results.items():
        count = f"{len(result.looked)} of {result.total} images"
        notes.append(Note(f"{name}: {count}; what is explained is {result.explained}."))
        if result.empty >= MANY_EMPTY:
            notes.append(
                Note(
                    f"{name}: {percent(result.empty)} of its maps are empty, and are not in "
                    "the figures. Grad-CAM keeps only what speaks for a class: of these images "
                    "its layer has nothing that does.",
                    warning=True,
                )
            )
    if len({result.side for result in results.values()}) > 1:
        notes.append(
            Note(
                "The maps of these models differ in size before they are enlarged. A coarse map "
                "covers more area for that reason alone, so their areas do not compare.",
                warning=True,
            )
        )
    return notes
