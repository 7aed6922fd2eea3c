"""Accuracy on images that have lost their high or their low frequencies (figure 2.8)."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple

from unshortcut.imaging.frequency import SHAPES, Shape
from unshortcut.measurements.frequency.response import (
    KEPT,
    FrequencyResult,
    Kept,
    frequency_response,
)
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Pictures,
    Plot,
    Table,
    interval,
)
from unshortcut.measuring.plots import Curve, curves
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

IMAGES = 200
"""At most, each seen through every mask."""
_NAMES: dict[Shape, str] = {"square": "{}_pass_accuracy", "round": "{}_pass_round_accuracy"}
_LOST: dict[Kept, str] = {"low": "high", "high": "low"}
_READ: dict[Kept, str] = {
    "low": "Only the frequencies within the mask are left: the image is blurred, most at the left. "
    "A curve that rises late belongs to a model that needs fine detail.",
    "high": "Only the frequencies beyond the mask are left: coarse form and color are gone, most "
    "at the right. A curve that falls late belongs to a model that can do with fine detail alone.",
}


class Frequency(Measurement[FrequencyResult]):
    """Low-pass and high-pass, square and round, from tiny to full masks."""

    name = "frequency"
    title = "Frequencies"
    question = "Does it need the fine detail of an image, or the coarse?"
    definition = (
        "Accuracy on images that are left with a part of their frequencies. Each channel's "
        "discrete Fourier transform is masked around the mean: a square of r × r coefficients, or "
        "a circle of the diameter r. Low-pass keeps what is within the mask and loses fine "
        "detail; high-pass keeps the rest, on mid-gray, and loses brightness, color and coarse "
        "form. r is given as a share of the image's side: at 25 % the mask holds the lowest "
        "quarter of frequencies in each direction. Figure 2.8 of the dissertation on suppressing "
        "texture (square); Wang et al. 2020 (round, where r is the radius). Intervals are "
        "Wilson's, 95 %."
    )
    place = 60
    gives = (
        "low_pass_accuracy",
        "low_pass_round_accuracy",
        "high_pass_accuracy",
        "high_pass_round_accuracy",
        "frequency_half_r",
    )
    result = FrequencyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> FrequencyResult:
        return frequency_response(subject, subject.labeled(IMAGES), on_progress)

    def metrics(
        self, result: FrequencyResult, baseline: FrequencyResult | None
    ) -> dict[str, Metric]:
        metrics = {}
        for kept in KEPT:
            for shape, name in _NAMES.items():
                metrics[name.format(kept)] = Metric.of(
                    f"Accuracy without {_LOST[kept]} frequencies, {shape} mask",
                    result.told(kept, shape),
                    better="higher" if kept == "low" else None,
                    headline=shape == "square",
                    note="the mask's side is a quarter of the image's",
                )
        metrics["frequency_half_r"] = Metric(
            "Side of the mask at half of the accuracy",
            result.half_r,
            better="lower",
            headline=False,
            note="half way from chance to the accuracy on plain images; square low-pass",
        )
        return metrics

    def exhibits(
        self, results: Mapping[str, FrequencyResult], baseline: FrequencyResult | None
    ) -> Sequence[Exhibit]:
        shown: list[Exhibit] = []
        for kept in KEPT:
            figure = curves(
                _lines(results, kept),
                "side r of the mask, as a share of the image's side",
                "accuracy",
                levels=_levels(results),
                x_shares=True,
            )
            shown.append(Plot(f"{kept.capitalize()}-pass", figure, _READ[kept]))
        shown += [_examples(results), _table(results)]
        one = next(iter(results.values()))
        masks = len(one.passes) * len(one.sides)
        shown.append(Note(f"{one.n} of {one.total} images, each seen through {masks} masks."))
        return shown

    def finding(self, result: FrequencyResult) -> Finding | None:
        clean, chance = result.clean, result.chance
        if not clean.low > chance:
            return None
        low, high = result.told("low"), result.told("high")
        lost, left = 1 - result.retained(low), result.retained(high)
        if lost >= max(left, 0.5) and low.high < clean.value:
            text = (
                f"needs high frequencies: is right in {percent(low.value)} of images without them, "
                f"{percent(clean.value)} with them"
            )
            return Finding(text, 0.7 * min(lost, 1.0))
        if left >= 0.5 and high.low > chance:
            text = (
                f"is right in {percent(high.value)} of images that have lost the lowest quarter of "
                f"their frequencies (chance {percent(chance)})"
            )
            return Finding(text, 0.5 * min(left, 1.0))
        return None


def _lines(results: Mapping[str, FrequencyResult], kept: Kept) -> dict[str, Curve]:
    return {
        f"{name}, {shape}": Curve.of(
            result.shares,
            result.curve(kept, shape).accuracy,
            dash="dash" if shape == "round" else None,
            model=name,
        )
        for name, result in results.items()
        for shape in SHAPES
    }


def _levels(results: Mapping[str, FrequencyResult]) -> dict[str, float]:
    """Chance, where all models have the same, and the accuracy on plain images of each."""
    chances = {result.chance for result in results.values()}
    levels = {"chance": chances.pop()} if len(chances) == 1 else {}
    for name, result in results.items():
        levels["plain images" if len(results) == 1 else f"{name}, plain images"] = (
            result.clean.value
        )
    return levels


def _examples(results: Mapping[str, FrequencyResult]) -> Pictures:
    rows = tuple(
        (f"{kept}-pass" if len(results) == 1 else f"{name}: {kept}-pass", curve.examples)
        for name, result in results.items()
        for kept, curve in ((kept, result.curve(kept)) for kept in KEPT)
    )
    shares = next(iter(results.values())).shares
    return Pictures(
        "What a model sees",
        rows,
        tuple(f"r = {100 * share:.3g} %" for share in shares),
        "One image through each square mask, and the decision. The frame tells right from wrong.",
    )


def _table(results: Mapping[str, FrequencyResult]) -> Table:
    columns = (
        MODEL,
        Column("Left"),
        Column("Mask"),
        Column("r", percent=True, tip="side of the mask as a share of the image's side"),
        Column("Coefficients", tip="side of the mask in coefficients of the transform"),
        Column("Accuracy", percent=True),
        *interval(percent=True),
    )
    rows = tuple(
        (name, f"{one.kept} frequencies", one.shape, share, side, *astuple(accuracy))
        for name, result in results.items()
        for one in result.passes
        for share, side, accuracy in zip(result.shares, result.sides, one.accuracy, strict=True)
    )
    return Table("All masks", columns, rows, folded=True)
