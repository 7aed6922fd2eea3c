"""What a model decides of images whose spectrum is masked, against the side r of the mask."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from unshortcut.imaging.frequency import SHAPES, Shape, high_pass, low_pass
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.images import Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, part_of

SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)
"""Sides r of the mask, as shares of the image's side."""
TOLD = 1 / 4
"""The one whose accuracy is a metric: its mask has the lowest quarter of frequencies each way."""

Kept = Literal["low", "high"]
KEPT: tuple[Kept, ...] = get_args(Kept)
_FILTERS = {"low": low_pass, "high": high_pass}


@dataclass(frozen=True)
class Pass:
    """Accuracy with one kind of mask, at each of the sides."""

    kept: Kept
    """The frequencies that are left: within the mask, or beyond it."""
    shape: Shape
    accuracy: tuple[Estimate, ...]
    examples: tuple[Picture, ...]
    """One image at each of the sides, framed by whether it was decided right; of squares only."""


@dataclass(frozen=True)
class FrequencyResult:
    """One model's accuracy against the side of the mask."""

    n: int
    total: int
    """Images that could have been taken."""
    size: int
    """Side of the images in pixels."""
    chance: float
    clean: Estimate
    shares: tuple[float, ...]
    """Of the image's side: the mask's."""
    sides: tuple[int, ...]
    """Of the mask in coefficients, at least 1."""
    passes: tuple[Pass, ...]

    def told(self, kept: Kept, shape: Shape = "square") -> Estimate:
        """The accuracy with a mask of a quarter of the side."""
        return self.curve(kept, shape).accuracy[self.shares.index(TOLD)]

    def curve(self, kept: Kept, shape: Shape = "square") -> Pass:
        return next(one for one in self.passes if (one.kept, one.shape) == (kept, shape))

    def retained(self, accuracy: Estimate) -> float:
        """How much of what the model knows beyond chance an accuracy still shows, 0 or more."""
        known = self.clean.value - self.chance
        return max(0.0, (accuracy.value - self.chance) / known)

    @property
    def half_r(self) -> float:
        """Where the square low-pass is half way from chance to the accuracy on plain images.

        A share of the image's side; NaN where that accuracy is no better than chance.
        """
        if self.clean.value <= self.chance:
            return math.nan
        accuracy = [one.value for one in self.curve("low").accuracy]
        return crossing(self.shares, accuracy, (self.chance + self.clean.value) / 2)


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float:
    """The least x at which the line through the points (x, y) reaches a level; NaN if nowhere."""
    if y[0] >= level:
        return x[0]
    for here in range(1, len(x)):
        if y[here] >= level:
            rise = (level - y[here - 1]) / (y[here] - y[here - 1])
            return x[here - 1] + rise * (x[here] - x[here - 1])
    return math.nan


def frequency_response(
    subject: Subject, images: Prepared, on_progress: OnProgress
) -> FrequencyResult:
    """Decisions on labeled images through every mask: a pass over the images for each."""
    labels = images.required_labels()
    size = images.pixels(0).shape[0]
    sides = tuple(max(1, round(share * size)) for share in SHARES)
    right = subject.probabilities(images).argmax(axis=1) == labels
    example = int(right.argmax())  # the first that is decided right, if any is
    kinds = [(kept, shape) for shape in SHAPES for kept in KEPT]
    passes = []
    for place, (kept, shape) in enumerate(kinds):
        accuracy: list[Estimate] = []
        examples: list[Picture] = []
        for number, r in enumerate(sides, start=place * len(sides)):
            told = part_of(on_progress, number, len(kinds) * len(sides))
            transform = _masked(kept, r, shape)
            decided = subject.probabilities(images, transform, told).argmax(axis=1)
            accuracy.append(Estimate.share(decided == labels))
            if shape == "square":
                pixels = transform(images.pixels(example), example)
                caption = f"decides {images.classes[decided[example]]}"
                mark = "good" if decided[example] == labels[example] else "bad"
                examples.append(picture(pixels, caption, mark, side=112))
        passes.append(Pass(kept, shape, tuple(accuracy), tuple(examples)))
    return FrequencyResult(
        n=len(images),
        total=images.total,
        size=size,
        chance=1 / len(images.classes),
        clean=Estimate.share(right),
        shares=SHARES,
        sides=sides,
        passes=tuple(passes),
    )


def _masked(kept: Kept, r: int, shape: Shape) -> Transform:
    filtered = _FILTERS[kept]

    def transform(pixels: Pixels, position: int) -> Pixels:
        return filtered(pixels, r, shape)

    return transform
