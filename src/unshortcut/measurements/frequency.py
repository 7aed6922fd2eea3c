"""Accuracy on images that have lost their high or their low frequencies."""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Literal, get_args

from unshortcut.imaging.frequency import SHAPES, Shape, high_pass, low_pass
from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
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
    picture,
)
from unshortcut.measuring.frequency_balance import coarse_share, crossing
from unshortcut.measuring.glance import Axis, GlancePart
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Curve, chance_level, curves
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.images import ImageSample, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress, part_of

MAX_IMAGES = Limit(quick=40, standard=200)
"""Each image is seen through every mask."""
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)
"""Sides r of the mask, as shares of the side of the image."""
REPORTED = 1 / 4
"""The share whose accuracy is a metric: the lowest quarter of frequencies in each direction."""

Kept = Literal["low", "high"]
KEPT: tuple[Kept, ...] = get_args(Kept)
_FILTERS = {"low": low_pass, "high": high_pass}
_LOST: dict[Kept, str] = {"low": "high", "high": "low"}
_METRICS: dict[Shape, str] = {"square": "{}_pass_accuracy", "round": "{}_pass_round_accuracy"}
_DASHES: dict[Shape, str | None] = {"square": None, "round": "dash"}
_CAPTIONS: dict[Kept, str] = {
    "low": "Only the frequencies within the mask are kept, so images are blurred, most of all at "
    "the left. The curve of a model that needs fine detail rises late.",
    "high": "Only the frequencies outside the mask are kept, so coarse form and color are lost, "
    "most of all at the right. The curve of a model that manages with fine detail falls late.",
}


@dataclass(frozen=True)
class FrequencyCurve:
    """The accuracy with one kind of mask, for each of its sides."""

    kept: Kept
    """The frequencies that are kept: those within the mask, or those outside it."""
    shape: Shape
    accuracy: tuple[Estimate, ...]
    examples: tuple[Picture, ...]
    """One image through each mask, marked by whether the decision is right; squares only."""


@dataclass(frozen=True)
class FrequencyResult(ImageSample):
    """The accuracy of one model, by the side of the mask."""

    chance: float
    clean: Estimate
    shares: tuple[float, ...]
    """Sides of the mask, as shares of the side of the image."""
    sides: tuple[int, ...]
    """Sides of the mask in coefficients, at least 1."""
    curves: tuple[FrequencyCurve, ...]
    coarse_share: Estimate = UNKNOWN
    """See `coarse_share`."""

    def curve(self, kept: Kept, shape: Shape = "square") -> FrequencyCurve:
        return next(one for one in self.curves if (one.kept, one.shape) == (kept, shape))

    def reported(self, kept: Kept, shape: Shape = "square") -> Estimate:
        """The accuracy with a mask of a quarter of the side."""
        return self.curve(kept, shape).accuracy[self.shares.index(REPORTED)]

    def retained(self, accuracy: Estimate) -> float:
        """Which part of the accuracy above chance is left, 0 or more."""
        return max(0.0, (accuracy.value - self.chance) / (self.clean.value - self.chance))

    @property
    def half_r(self) -> float:
        """Where the square low-pass is halfway from chance to the accuracy on clean images.

        A share of the side of the image; NaN if that accuracy is no better than chance.
        """
        if self.clean.value <= self.chance:
            return math.nan
        accuracy = [one.value for one in self.curve("low").accuracy]
        return crossing(self.shares, accuracy, (self.chance + self.clean.value) / 2)


Results = Mapping[str, FrequencyResult]


class Frequency(Measurement[FrequencyResult]):
    """Low-pass and high-pass filtering with square and round masks of many sizes."""

    name = "frequency"
    title = "Frequencies"
    question = "Does the model need the fine detail of an image, or its coarse form?"
    definition = (
        "Accuracy on images that keep only some of their frequencies. The discrete Fourier "
        "transform of each channel is masked around zero frequency, by a square of r × r "
        "coefficients or by a circle of diameter r. A low-pass filter keeps what is within the "
        "mask and removes fine detail; a high-pass filter keeps the rest, on mid-gray, and removes "
        "brightness, color and coarse form. r is given as a share of the side of the image: at "
        "25 % the mask contains the lowest quarter of the frequencies in each direction. Square "
        "masks are those of figure 2.8 of the dissertation on suppressing texture, round ones "
        "those of Wang et al. 2020, where r is the radius. Intervals are Wilson's, 95 %."
    )
    order = 60
    version = 2
    gives = (
        "low_pass_accuracy",
        "low_pass_round_accuracy",
        "high_pass_accuracy",
        "high_pass_round_accuracy",
        "frequency_half_r",
    )
    result = FrequencyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> FrequencyResult:
        images = subject.labeled(MAX_IMAGES)
        labels = images.required_labels()
        size = images.pixels(0).shape[0]
        sides = tuple(max(1, round(share * size)) for share in SHARES)
        right = subject.probabilities(images).argmax(axis=1) == labels
        example = int(right.argmax())  # the first image that is classified correctly, if any
        kinds = [(kept, shape) for shape in SHAPES for kept in KEPT]
        found, reported = [], {}
        for index, (kept, shape) in enumerate(kinds):
            accuracy: list[Estimate] = []
            examples: list[Picture] = []
            for number, r in enumerate(sides, start=index * len(sides)):
                progress = part_of(on_progress, number, len(kinds) * len(sides))
                transform = _masked(kept, r, shape)
                decided = subject.probabilities(images, transform, progress).argmax(axis=1)
                accuracy.append(Estimate.share(decided == labels))
                if (shape, SHARES[number % len(sides)]) == ("square", REPORTED):
                    reported[kept] = decided == labels
                if shape == "square":
                    pixels = transform(images.pixels(example), example)
                    mark = "good" if decided[example] == labels[example] else "bad"
                    caption = images.classes[decided[example]]
                    examples.append(picture(pixels, caption, mark, side=112))
            found.append(FrequencyCurve(kept, shape, tuple(accuracy), tuple(examples)))
        chance = 1 / len(images.classes)
        return FrequencyResult(
            num_images=len(images),
            total=images.total,
            size=size,
            chance=chance,
            clean=Estimate.share(right),
            shares=SHARES,
            sides=sides,
            curves=tuple(found),
            coarse_share=coarse_share(
                reported["low"], reported["high"], chance, subject.settings.seed
            ),
        )

    def passes(self, subject: Subject) -> Passes:
        images = len(subject.labeled(MAX_IMAGES))
        return Passes(changed=len(SHAPES) * len(KEPT) * len(SHARES) * images, plain=images)

    def metrics(self, result: FrequencyResult, baseline: FrequencyResult | None) -> Metrics:
        metrics = {}
        for kept in KEPT:
            for shape, name in _METRICS.items():
                metrics[name.format(kept)] = Metric.of(
                    f"Accuracy without {_LOST[kept]} frequencies, {shape} mask",
                    result.reported(kept, shape),
                    better="higher" if kept == "low" else None,
                    headline=shape == "square",
                    note="the side of the mask is a quarter of the side of the image",
                )
        metrics["frequency_half_r"] = Metric(
            "Side of the mask at half the accuracy",
            result.half_r,
            better="lower",
            headline=False,
            note="halfway from chance to the accuracy on clean images; square low-pass",
        )
        return metrics

    def exhibits(self, results: Results, baseline: FrequencyResult | None) -> list[Exhibit]:
        levels = chance_level(result.chance for result in results.values())
        for name, result in results.items():
            level = "clean images" if len(results) == 1 else f"{name}, clean images"
            levels[level] = result.clean.value
        title = "side r of the mask, as a share of the side of the image"
        plots = [
            Plot(
                f"{kept.capitalize()}-pass",
                curves(_lines(results, kept), title, "accuracy", levels=levels, x_shares=True),
                _CAPTIONS[kept],
            )
            for kept in KEPT
        ]
        one = next(iter(results.values()))
        masks = len(one.curves) * len(one.sides)
        note = f"{one.num_images} of {one.total} images, each seen through {masks} masks."
        return [*plots, _examples(results), _table(results), Note(note)]

    def glance(self, results: Results) -> list[GlancePart]:
        known = {
            name: one.coarse_share
            for name, one in results.items()
            if not math.isnan(one.coarse_share.value)
        }
        return [
            Axis(
                "detail",
                "outline",
                "share of the accuracy from low frequencies",
                known,
                {name: "recognizes neither" for name in results if name not in known},
            )
        ]

    def finding(self, result: FrequencyResult) -> Finding | None:
        clean, chance = result.clean, result.chance
        if not clean.low > chance:
            return None
        low, high = result.reported("low"), result.reported("high")
        lost, left = 1 - result.retained(low), result.retained(high)
        if lost >= max(left, 0.5) and low.high < clean.value:
            fall = f"from {percent(clean.value)} to {percent(low.value)}"
            text = f"depends on high frequencies: its accuracy falls {fall} without them"
            return Finding(text, 0.7 * min(lost, 1.0), "needs fine detail")
        if left >= 0.5 and high.low > chance:
            lacking = f"without the lowest quarter of their frequencies (chance {percent(chance)})"
            text = f"has an accuracy of {percent(high.value)} on images {lacking}"
            brief = "recognizes most images by fine detail alone"
            return Finding(text, 0.5 * min(left, 1.0), brief)
        return None


def _masked(kept: Kept, r: int, shape: Shape) -> Transform:
    return lambda pixels, _: _FILTERS[kept](pixels, r, shape)


def _lines(results: Results, kept: Kept) -> dict[str, Curve]:
    lines = {}
    for name, result in results.items():
        for shape in SHAPES:
            accuracy, dash = result.curve(kept, shape).accuracy, _DASHES[shape]
            lines[f"{name}, {shape}"] = Curve.of(result.shares, accuracy, dash=dash, model=name)
    return lines


def _examples(results: Results) -> Pictures:
    rows = tuple(
        (f"{kept}-pass" if len(results) == 1 else f"{name}: {kept}-pass", one.curve(kept).examples)
        for name, one in results.items()
        for kept in KEPT
    )
    return Pictures(
        "What the model sees",
        rows,
        tuple(f"r = {100 * share:.3g} %" for share in next(iter(results.values())).shares),
        "One image through each square mask, with the predicted class. The frame shows whether it "
        "is correct.",
    )


def _table(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Kept"),
        Column("Mask"),
        Column("r", percent=True, tip="side of the mask as a share of the side of the image"),
        Column("Coefficients", tip="side of the mask in coefficients of the transform"),
        *Column.estimate("Accuracy", percent=True, of="accuracy"),
    )
    rows = [
        (name, f"{one.kept} frequencies", one.shape, share, side, *astuple(accuracy))
        for name, result in results.items()
        for one in result.curves
        for share, side, accuracy in zip(result.shares, result.sides, one.accuracy, strict=True)
    ]
    return Table("All masks", columns, rows, folded=True)
