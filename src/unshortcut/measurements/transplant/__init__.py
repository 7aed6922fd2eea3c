"""Transplant: whether pasting the most salient patch of an image changes decisions on others."""

from collections.abc import Mapping
from dataclasses import astuple, replace
from functools import partial

import plotly.graph_objects as go

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measurements.transplant.plan import FEWEST, HOSTS, QUICK_HOSTS
from unshortcut.measurements.transplant.regions import CELLS, CENTER
from unshortcut.measurements.transplant.transplants import (
    WINNERS,
    TransplantResult,
    num_passes,
    transplant,
)
from unshortcut.measuring.estimates import UNKNOWN, Estimate
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    Table,
    rows_each,
)
from unshortcut.measuring.glance import Axis, GlancePart, TellingPicture
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars, plain
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

NOTABLE, CLEAR = 0.25, 0.5
"""Lifts of a class that the verdict mentions, and that are a clear sign of a shortcut."""
MAX_BARS = 20
"""Limit on the classes that are shown as bars; those with the largest lift are shown."""

_FOLLOWED = "share of pastes after which the decision is the class of the patch"
_CONTROL = "pasting the same region of another image of the host's class: the effect of any paste"
_MATES = (
    "pasting the same region of other images of the patch's class: as high as for the patch itself "
    "if the cue is at the same position in the whole class, like a tag"
)

Results = Mapping[str, TransplantResult]


class Transplant(Measurement[TransplantResult]):
    """The patch that decides an image, pasted into images of other classes."""

    name = "transplant"
    title = "Transplant"
    question = "Does pasting one small patch of an image change the decision on other images?"
    definition = (
        "From images that are classified correctly, the most salient patch is cut out and pasted, "
        f"at the same position, into up to {HOSTS} correctly classified images of other classes. A "
        "decision follows the patch if it changes to the class of the patch. Parts of objects "
        "rarely have this effect; a watermark, a tag or a border nearly always does. The most "
        "salient patch is the one whose removal reduces the probability of the image's class most "
        "(occlusion, Zeiler and Fergus 2014), among squares of a quarter of the side in steps of "
        "half a square, a strip along each edge, and a thin frame, each with about a sixteenth of "
        "the area; the removed region is filled smoothly from its surroundings. For comparison, "
        "the same region is pasted from other images of the host's own class (the effect of any "
        "paste) and from other images of the patch's class: if these have the same effect, the cue "
        "is at the same position in the whole class. Intervals are 95 %, over the images that "
        "provide patches: a bootstrap for means over classes, Wilson's for a class. A cue that "
        f"none of the images contains cannot be found. The profile quick has {QUICK_HOSTS} images "
        f"in the place of {HOSTS}, and steps of a whole square."
    )
    order = 30
    quick = True
    gives = ("transplant_follow", "transplant_worst_class", "transplant_lift", "transplant_control")
    result = TransplantResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> TransplantResult:
        return transplant(subject, on_progress)

    def passes(self, subject: Subject) -> Passes:
        return Passes(changed=num_passes(subject), plain=len(subject.labeled()))

    def metrics(self, result: TransplantResult, baseline: TransplantResult | None) -> Metrics:
        worst = result.strongest()
        assert worst is not None  # there are at least two classes
        note = f"{len(result.patches)} patches, mean over {len(result.classes)} classes"
        mean = partial(Metric.of, note=note)
        return {
            "transplant_follow": mean(
                "Decisions that follow a pasted patch", result.follow, better="lower"
            ),
            "transplant_worst_class": Metric.of(
                "Decisions that follow a patch, strongest class",
                worst.follow,
                better="lower",
                note=f"'{worst.name}', {worst.donors} patches",
            ),
            "transplant_lift": mean(
                "Decisions that follow a patch, minus the effect of any paste",
                result.lift,
                better="lower",
                headline=False,
            ),
            "transplant_control": mean(
                "Decisions for the patch's class after any paste", result.control, headline=False
            ),
        }

    def exhibits(self, results: Results, baseline: TransplantResult | None) -> list[Exhibit]:
        top = max(max(map(max, result.positions)) for result in results.values())
        return [
            _summary(results),
            *(
                _winners(name, result, rows_each(WINNERS, len(results)))
                for name, result in results.items()
                if result.winners
            ),
            _bars(results),
            *(_map(name, result, top) for name, result in results.items()),
            _classes(results),
            *(_note(name, result) for name, result in results.items()),
        ]

    def glance(self, results: Results) -> list[GlancePart]:
        stays = {
            name: Estimate(1 - one.follow.value, 1 - one.follow.high, 1 - one.follow.low)
            for name, one in results.items()
        }
        return [
            Axis("local patch", "whole image", "decisions that no pasted patch changes", stays),
            TellingPicture(
                "the patch that wins",
                {name: _winner(one) for name, one in results.items() if one.winners},
                "no patch changes decisions",
            ),
        ]

    def finding(self, result: TransplantResult) -> Finding | None:
        """The class with the largest lift, if it is large and based on several patches."""
        top = result.strongest(donors=FEWEST)
        if top is None or top.follows.lift < NOTABLE:
            return None
        text = (
            f"changes its decision to the class of a pasted patch in "
            f"{percent(result.follow.value)} of images (class '{top.name}': "
            f"{percent(top.follows.patch)}"
        )
        if top.at_position > top.donors / 2 and top.position != CENTER:
            text += f", mostly from one position: {top.position}"
        text += ")"
        brief = f"often follows a pasted patch of class '{top.name}'"
        if top.follows.lift >= CLEAR:
            tagged = top.follows.mates >= CLEAR
            cue = "a tag or watermark" if tagged else "one small region"
            text += f", a sign that it relies on {cue}"
            brief = f"seems to rely on {cue} for class '{top.name}'"
        return Finding(text, top.follows.lift, brief)


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
        strongest = (top.name, top.follows.patch, top.follows.mates)
        means = (result.follow.value, result.control.value)
        rows.append((name, *means, *strongest, len(result.patches)))
    return Table("How often decisions follow a patch", columns, rows)


def _winners(name: str, result: TransplantResult, most: int) -> Pictures:
    rows = tuple(
        (
            f"{one.patch.label}: followed in {percent(one.patch.follows.patch)} "
            f"(any paste: {percent(one.patch.follows.control)})",
            one.pictures,
        )
        for one in result.winners[:most]
    )
    return Pictures(
        f"The patches with the largest effect: {name}",
        rows,
        ("the patch in its image", "the patch", "an image that follows it"),
        "Is it a part of the object, or a tag, a watermark, a border?",
    )


def _winner(result: TransplantResult) -> Picture:
    """The patch with the largest effect, in its own image."""
    patch, picture = result.winners[0].patch, result.winners[0].pictures[0]
    text = f"'{patch.label}', followed in {percent(patch.follows.patch)} of other images"
    return replace(picture, caption=text)


def _bars(results: Results) -> Plot:
    by_name = {name: {one.name: one for one in result.classes} for name, result in results.items()}
    strength: dict[str, float] = {}
    for known in by_name.values():
        for one in known.values():
            strength[one.name] = max(strength.get(one.name, -1.0), one.follows.lift)
    shown = sorted(strength, key=lambda one: -strength[one])[:MAX_BARS]
    series = {
        name: Bars.of([known[one].follow if one in known else UNKNOWN for one in shown])
        for name, known in by_name.items()
    }
    caption = "Classes are sorted by the effect of their patches beyond any paste."
    if len(strength) > len(shown):
        caption += f" The first {len(shown)} of {len(strength)} are shown."
    figure = bars(shown, series, "followed")
    return Plot("Followed decisions by class of the patch", figure, caption)


def _map(name: str, result: TransplantResult, top: float) -> Plot:
    """A heat map with the same scale for all models, up to `top`."""
    figure = go.Figure()
    figure.add_heatmap(
        z=[list(row) for row in result.positions],
        zmin=0,
        zmax=top or 1.0,
        hovertemplate="column %{x}, row %{y}: %{z:.1%}<extra></extra>",
        x=list(range(1, CELLS + 1)),
        y=list(range(1, CELLS + 1)),
        colorbar={"tickformat": ".1%"},
    )
    hidden = {"constrain": "domain", "showticklabels": False, "ticks": ""}
    figure.update_xaxes(**hidden)
    figure.update_yaxes(autorange="reversed", scaleanchor="x", **hidden)
    return Plot(
        f"Positions of patches that decisions follow: {name}",
        plain(figure),
        "Share of pastes that cover a position and are followed. In most photographs objects are "
        "near the center; a tag or a border is at one position near the edge.",
        height=360,
    )


def _classes(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Class"),
        Column("Patches"),
        *Column.estimate("Followed", percent=True, tip=_FOLLOWED),
        Column("Any paste", percent=True, tip=_CONTROL),
        Column("Same region, same class", percent=True, tip=_MATES),
        Column("Most frequent position"),
        Column("Patches there"),
    )
    rows = []
    for name, result in results.items():
        for one in sorted(result.classes, key=lambda one: -one.follows.lift):
            rates = (*astuple(one.follow), one.follows.control, one.follows.mates)
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
