"""How the profiles of models are shown: a summary, a curve a variation, examples, all numbers."""

from collections.abc import Mapping
from dataclasses import astuple

from unshortcut.measurements.invariance.profiles import InvarianceResult, Profile
from unshortcut.measuring.estimates.estimate import Estimate
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
from unshortcut.measuring.plots import Bars, Curve, bars, curves

Results = Mapping[str, InvarianceResult]


def exhibits(results: Results) -> list[Exhibit]:
    """What is shown of the models' profiles."""
    one = next(iter(results.values()))
    shown: list[Exhibit] = [_summary(results)]
    shown += [_curves(results, place) for place in range(len(one.profiles))]
    shown += [_examples(one), _table(results)]
    units = "; ".join(f"{name} {result.between:.3f}" for name, result in results.items())
    shown.append(
        Note(
            f"{one.n} of {one.total} images. The unit of movement, the mean cosine distance "
            f"between different images: {units}."
        )
    )
    return shown


def _summary(results: Results) -> Plot:
    series = {
        name: Bars.of([one.mean for one in result.profiles]) for name, result in results.items()
    }
    titles = [one.title for one in next(iter(results.values())).profiles]
    figure = bars(titles, series, "movement", percent=False, level=("another image", 1.0))
    caption = (
        "How far features move on the way to another image, mean over the levels of each change. "
        "Low is invariant; whether that is good depends on the change. A model that does not "
        "notice shuffled patches sees texture rather than shape."
    )
    return Plot("Movement of features", figure, caption)


def _curves(results: Results, place: int) -> Plot:
    lines = {name: _curve(result.profiles[place]) for name, result in results.items()}
    one = next(iter(results.values())).profiles[place]
    figure = curves(lines, one.unit, "movement", percent=False, levels={"another image": 1.0})
    return Plot(one.title, figure, height=280)


def _curve(profile: Profile) -> Curve:
    """From the plain image, which has not moved, through all levels."""
    plain = Estimate(0.0, 0.0, 0.0)
    return Curve.of((profile.plain, *profile.levels), (plain, *profile.movement))


def _examples(result: InvarianceResult) -> Pictures:
    rows = tuple((one.title, one.examples) for one in result.profiles)
    return Pictures("One image at every level", rows)


def _table(results: Results) -> Table:
    decided = any(one.same for result in results.values() for one in result.profiles)
    columns = [
        MODEL,
        Column("Change"),
        Column("Level"),
        Column("Movement", digits=2, tip="1 is as far as another image"),
        *interval(digits=2),
        Column("Cosine", tip="mean cosine with the features of the plain image"),
    ]
    if decided:
        columns += [
            Column("Same decision", percent=True, tip="share of decisions that stay"),
            *interval(percent=True),
        ]
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        for one in result.profiles:
            for at, word in enumerate(one.words):
                row = (name, one.title, word, *astuple(one.movement[at]), one.cosine[at])
                same = astuple(one.same[at]) if one.same else (None,) * 3
                rows.append((*row, *same) if decided else row)
    return Table("All levels", tuple(columns), tuple(rows), folded=True)
