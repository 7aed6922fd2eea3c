"""What is shown of transplants: rates by model and class, the patches that win, their places."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from unshortcut.measurements.transplant.regions import CELLS
from unshortcut.measurements.transplant.transplants import DonorClass, TransplantResult
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
from unshortcut.measuring.plots import Bars, bars, plain
from unshortcut.measuring.wording import percent

MOST_BARS = 20
"""Classes that are shown as bars: of more, those whose patches do most beyond any paste."""

_FOLLOWED = "share of pastes after which the decision is the class that the patch is from"
_CONTROL = "the same place of another image of the host's own class pasted: what any paste does"
_MATES = (
    "the same place of other images of the patch's class pasted: as high as the patch itself where "
    "the cue is at the same place in all of the class, as a tag is"
)

Results = Mapping[str, TransplantResult]


def transplant_exhibits(results: Results) -> list[Exhibit]:
    """For one model or several."""
    shown: list[Exhibit] = [_summary(results)]
    shown += [_winners(name, result) for name, result in results.items() if result.winners]
    shown.append(_bars(results))
    top = max(max(map(max, result.places)) for result in results.values())
    shown += [_map(name, result, top) for name, result in results.items()]
    shown += [_classes(results), *(_note(name, result) for name, result in results.items())]
    return shown


def _summary(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Followed", percent=True, tip=f"{_FOLLOWED}; mean over classes"),
        Column("Any paste", percent=True, tip=_CONTROL),
        Column("Strongest class", tip="whose patches do most beyond any paste"),
        Column("Followed there", percent=True),
        Column("Its place, other images", percent=True, tip=_MATES),
        Column("Patches", tip="one of each donor image"),
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
    return Table("How often decisions follow a patch", columns, tuple(rows))


def _winners(name: str, result: TransplantResult) -> Pictures:
    rows = tuple(
        (
            f"{one.patch.label}: followed in {percent(one.patch.follows.patch)} "
            f"(any paste {percent(one.patch.follows.control)})",
            one.pictures,
        )
        for one in result.winners
    )
    return Pictures(
        f"The patches that win most: {name}",
        rows,
        ("the patch in its image", "the patch", "an image that followed it"),
        "Is it a part of the object, or a tag, a watermark, a border?",
    )


def _bars(results: Results) -> Plot:
    by_name = {name: {one.name: one for one in result.classes} for name, result in results.items()}
    strength: dict[str, float] = {}
    for known in by_name.values():
        for one in known.values():
            strength[one.name] = max(strength.get(one.name, -1.0), one.follows.lift)
    shown = sorted(strength, key=lambda one: -strength[one])[:MOST_BARS]
    series = {
        name: Bars(
            [_height(known.get(one), "value") for one in shown],
            [_height(known.get(one), "low") for one in shown],
            [_height(known.get(one), "high") for one in shown],
        )
        for name, known in by_name.items()
    }
    caption = "Classes whose patches do most beyond any paste come first."
    if len(strength) > len(shown):
        caption += f" The first {len(shown)} of {len(strength)}."
    figure = bars(shown, series, "followed")
    return Plot("Followed, by the class of the patch", figure, caption)


def _height(one: DonorClass | None, what: str) -> float:
    if one is None:
        return float("nan")
    return {"value": one.follows.patch, "low": one.low, "high": one.high}[what]


def _map(name: str, result: TransplantResult, top: float) -> Plot:
    return Plot(
        f"Where the patches that win are: {name}",
        _heat(result.places, top),
        "Share of pastes that covered a place and were followed. Objects are about the middle, in "
        "most photographs; a tag or a border is at one place by the edge.",
        height=360,
    )


def _heat(rows: tuple[tuple[float, ...], ...], top: float) -> dict[str, Any]:
    """With one scale for all models, which ends at `top`."""
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
        *interval(percent=True),
        Column("Any paste", percent=True, tip=_CONTROL),
        Column("Its place, other images", percent=True, tip=_MATES),
        Column("Mostly at"),
        Column("Of them there"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        for one in sorted(result.classes, key=lambda one: -one.follows.lift):
            rates = (one.follows.patch, one.low, one.high, one.follows.control, one.follows.mates)
            rows.append((name, one.name, one.donors, *rates, one.place, one.at_place))
    return Table("All classes", columns, tuple(rows), folded=True)


def _note(name: str, result: TransplantResult) -> Note:
    text = (
        f"{name}: {len(result.patches)} patches of {len(result.classes)} classes, each pasted into "
        f"at most {result.hosts} images of other classes. Donors and hosts are among the "
        f"{result.right} of {result.images} images that it decides rightly."
    )
    if len(result.classes) < result.known:
        text += f" Of {result.known} classes, {len(result.classes)} were drawn at random."
    return Note(text)
