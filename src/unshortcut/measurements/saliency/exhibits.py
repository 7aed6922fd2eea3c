"""Saliency maps of the same images, and coverage by model and by who is right."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import zip_longest

from unshortcut.measurements.saliency.maps import Coverages, SaliencyResult, coverages
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.wording import percent

MAX_ROWS = 12
"""Limit on the images shown, taken evenly from all cases."""
MANY_EMPTY = 0.1
"""Share of empty maps that gives a warning."""

Results = Mapping[str, SaliencyResult]


def saliency_exhibits(results: Results) -> list[Exhibit]:
    """The exhibits of one or more models."""
    cases = _cases(results)
    found = {
        case: {
            name: coverages([one for one in result.decisions if one.index in indices])
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
    """Indices of the images that all models saw, by which models are right.

    As in figures 2.14 to 2.17 of the dissertation on suppressing texture.
    """
    right = [{one.index: one.right for one in result.decisions} for result in results.values()]
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
    truth = {one.index: one.truth for result in results.values() for one in result.decisions}
    known = {
        case: [index for index in indices if all(index in one for one in shown)]
        for case, indices in cases.items()
    }
    rounds = zip_longest(*known.values())
    chosen = [index for one in rounds for index in one if index is not None][:MAX_ROWS]
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
            "Warm colors mark the evidence for the predicted class, which the caption names. The "
            "frame shows whether it is correct.",
        )
    ]


def _summary(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Layer", tip="layer of the model that gives the maps"),
        Column("Map size", tip="size of the map before it is enlarged"),
        Column("Images"),
        Column("Empty maps", percent=True, tip="maps without any evidence for the decision"),
    )
    rows = [
        (name, one.layer, f"{one.side} × {one.side}", len(one.decisions), one.empty)
        for name, one in results.items()
    ]
    return Table("Maps", columns, rows)


def _bars(results: Results, found: Mapping[str, Mapping[str, Coverages]]) -> Plot:
    series = {name: Bars.of([by[name].area for by in found.values()]) for name in results}
    figure = bars(list(found), series, "salient area")
    return Plot("Salient area by who is right", figure, "With 95 % intervals.")


def _by_case(found: Mapping[str, Mapping[str, Coverages]]) -> Table:
    columns = (
        Column("Case"),
        MODEL,
        Column("Images", tip="images whose map is not empty"),
        Column("Area", percent=True, tip="salient share of the image"),
        *Column.interval(percent=True),
        Column("Edges", percent=True, tip="salient share of the edges"),
        *Column.interval(percent=True),
        Column("Edges / area", digits=2, tip="1 for a map that ignores edges"),
        *Column.interval(digits=2),
    )
    rows = [
        (
            case,
            name,
            one.num_images,
            *astuple(one.area),
            *astuple(one.edges),
            *astuple(one.lift),
        )
        for case, by in found.items()
        for name, one in by.items()
    ]
    return Table("Coverage by who is right", columns, rows, folded=True)


def _notes(results: Results) -> list[Exhibit]:
    notes: list[Exhibit] = []
    for name, result in results.items():
        count = f"{len(result.decisions)} of {result.total} images"
        notes.append(Note(f"{name}: {count}; maps explain the {result.explained}."))
        if result.empty >= MANY_EMPTY:
            notes.append(
                Note(
                    f"{name}: {percent(result.empty)} of its maps are empty and not counted. "
                    "Grad-CAM keeps only evidence for a class, and the layer has none for these "
                    "images.",
                    warning=True,
                )
            )
    if len({result.side for result in results.values()}) > 1:
        notes.append(
            Note(
                "The maps of these models have different sizes before they are enlarged. A coarser "
                "map covers more area for that reason alone, so their areas are not comparable.",
                warning=True,
            )
        )
    return notes
