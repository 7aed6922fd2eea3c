"""Tables, plots and pictures of transplanted patches and their effect."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from unshortcut.measurements.transplant.regions import CELLS
from unshortcut.measurements.transplant.transplants import DonorClass, TransplantResult
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, bars, plain
from unshortcut.measuring.wording import percent

MAX_BARS = 20
"""Limit on the classes that are shown as bars; those with the largest lift are shown."""

_FOLLOWED = "share of pastes after which the decision is the class of the patch"
_CONTROL = "pasting the same region of another image of the host's class: the effect of any paste"
_MATES = (
    "pasting the same region of other images of the patch's class: as high as for the patch itself "
    "if the cue is at the same position in the whole class, like a tag"
)

Results = Mapping[str, TransplantResult]


def transplant_exhibits(results: Results) -> list[Exhibit]:
    """The exhibits of one or more models."""
    shown: list[Exhibit] = [_summary(results)]
    shown += [_winners(name, result) for name, result in results.items() if result.winners]
    shown.append(_bars(results))
    top = max(max(map(max, result.positions)) for result in results.values())
    shown += [_map(name, result, top) for name, result in results.items()]
    shown += [_classes(results), *(_note(name, result) for name, result in results.items())]
    return shown


def _summary(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Followed", percent=True, tip=f"{_FOLLOWED}; mean over classes"),
        Column("Any paste", percent=True, tip=_CONTROL),
        Column("Strongest class", tip="the class with the largest effect beyond any paste"),
        Column("Followed, this class", percent=True),
        Column("Same region, same class", percent=True, tip=_MATES),
        Column("Patches", tip="one per donor image"),
    )
    rows = []
    for name, result in results.items():
        top = result.strongest()
        assert top is not None  # there are at least two classes
        rows.append(
            (
                name,
                result.follow.value,
                result.control.value,
                top.name,
                top.follows.patch,
                top.follows.mates,
                len(result.patches),
            )
        )
    return Table("How often decisions follow a patch", columns, rows)


def _winners(name: str, result: TransplantResult) -> Pictures:
    rows = tuple(
        (
            f"{one.patch.label}: followed in {percent(one.patch.follows.patch)} "
            f"(any paste: {percent(one.patch.follows.control)})",
            one.pictures,
        )
        for one in result.winners
    )
    return Pictures(
        f"The patches with the largest effect: {name}",
        rows,
        ("the patch in its image", "the patch", "an image that follows it"),
        "Is it a part of the object, or a tag, a watermark, a border?",
    )


def _bars(results: Results) -> Plot:
    by_name = {name: {one.name: one for one in result.classes} for name, result in results.items()}
    strength: dict[str, float] = {}
    for known in by_name.values():
        for one in known.values():
            strength[one.name] = max(strength.get(one.name, -1.0), one.follows.lift)
    shown = sorted(strength, key=lambda one: -strength[one])[:MAX_BARS]
    series = {
        name: Bars(
            [_height(known.get(one), "value") for one in shown],
            [_height(known.get(one), "low") for one in shown],
            [_height(known.get(one), "high") for one in shown],
        )
        for name, known in by_name.items()
    }
    caption = "Classes are sorted by the effect of their patches beyond any paste."
    if len(strength) > len(shown):
        caption += f" The first {len(shown)} of {len(strength)} are shown."
    figure = bars(shown, series, "followed")
    return Plot("Followed decisions by class of the patch", figure, caption)


def _height(one: DonorClass | None, what: str) -> float:
    if one is None:
        return float("nan")
    return {"value": one.follows.patch, "low": one.low, "high": one.high}[what]


def _map(name: str, result: TransplantResult, top: float) -> Plot:
    return Plot(
        f"Positions of patches that decisions follow: {name}",
        _heat(result.positions, top),
        "Share of pastes that cover a position and are followed. In most photographs objects are "
        "near the center; a tag or a border is at one position near the edge.",
        height=360,
    )


def _heat(rows: tuple[tuple[float, ...], ...], top: float) -> dict[str, Any]:
    """A heat map with the same scale for all models, up to `top`."""
    figure = go.Figure()
    figure.add_heatmap(
        z=[list(row) for row in rows],
        colorscale="Blues",
        zmin=0,
        zmax=top or 1.0,
        hovertemplate="column %{x}, row %{y}: %{z:.1%}<extra></extra>",
        x=list(range(1, CELLS + 1)),
        y=list(range(1, CELLS + 1)),
        colorbar={"tickformat": ".1%"},
    )
    figure.update_xaxes(constrain="domain", showticklabels=False, ticks="")
    figure.update_yaxes(
        autorange="reversed", scaleanchor="x", constrain="domain", showticklabels=False, ticks=""
    )
    return plain(figure)


def _classes(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Class"),
        Column("Patches"),
        Column("Followed", percent=True, tip=_FOLLOWED),
        *Column.interval(percent=True),
        Column("Any paste", percent=True, tip=_CONTROL),
        Column("Same region, same class", percent=True, tip=_MATES),
        Column("Most frequent position"),
        Column("Patches there"),
    )
    rows = []
    for name, result in results.items():
        for one in sorted(result.classes, key=lambda one: -one.follows.lift):
            rates = (one.follows.patch, one.low, one.high, one.follows.control, one.follows.mates)
            rows.append((name, one.name, one.donors, *rates, one.position, one.at_position))
    return Table("All classes", columns, rows, folded=True)


def _note(name: str, result: TransplantResult) -> Note:
    text = (
        f"{name}: {len(result.patches)} patches of {len(result.classes)} classes, each pasted into "
        f"up to {result.num_hosts} images of other classes. Donors and hosts are chosen from the "
        f"{result.num_right} of {result.num_images} images that are classified correctly."
    )
    if len(result.classes) < result.num_classes:
        text += f" {len(result.classes)} of {result.num_classes} classes were chosen at random."
    return Note(text)
