"""Profiles of a model: how far its features move, and which decisions stay, variation by variation.

The unit of movement is the mean distance between different images, so that 1 is as far as another
image: `audit/movement.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.measurements.invariance.movement import apart, moved, movement
from unshortcut.measurements.invariance.variations import VARIATIONS, Variation
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.classifier import Outputs
from unshortcut.measuring.subjects.images import Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, part_of
from unshortcut.randomness import generator


@dataclass(frozen=True)
class Profile:
    """What one variation does, at each of its levels."""

    name: str
    title: str
    unit: str
    """What a level counts."""
    plain: float
    """The level that changes nothing."""
    levels: tuple[float, ...]
    words: tuple[str, ...]
    """The levels, for people."""
    movement: tuple[Estimate, ...]
    """1 is as far as another image."""
    mean: Estimate
    """Of the movements over the levels."""
    cosine: tuple[float, ...]
    """Mean cosine of the features with those of the plain image."""
    same: tuple[Estimate, ...]
    """Share of decisions that stay; empty without a classifier."""
    examples: tuple[Picture, ...]


@dataclass(frozen=True)
class InvarianceResult:
    """The profiles of one model."""

    n: int
    total: int
    """Images that could have been taken."""
    size: int
    """Side of the images in pixels."""
    between: float
    """Mean cosine distance between different images: the unit of movement."""
    profiles: tuple[Profile, ...]

    def at(self, name: str, level: float) -> Estimate:
        """The movement under a variation at one of its levels."""
        profile = next(one for one in self.profiles if one.name == name)
        return profile.movement[profile.levels.index(level)]


def profiles(subject: Subject, images: Prepared, on_progress: OnProgress) -> InvarianceResult:
    """A pass over the images for each level of each variation.

    Raises `NotApplicable` where all images have the same features, so that there is no unit.
    """
    plain = subject.outputs(images)
    between = apart(plain.features)
    # What is left of rounding in float32 is no distance.
    if not between.mean() > 1e-9:
        raise NotApplicable("the model gives all images the same features")
    steps = sum(len(one.levels) for one in VARIATIONS)
    found: list[Profile] = []
    done = 0
    for variation in VARIATIONS:
        seen = []
        for level in variation.levels:
            told = part_of(on_progress, done, steps)
            transform = _transform(subject, images, variation, level)
            seen.append(subject.outputs(images, transform, told))
            done += 1
        found.append(_profile(subject, images, variation, plain, seen, between))
    return InvarianceResult(
        n=len(images),
        total=images.total,
        size=images.pixels(0).shape[0],
        between=float(between.mean()),
        profiles=tuple(found),
    )


def _profile(
    subject: Subject,
    images: Prepared,
    variation: Variation,
    plain: Outputs,
    seen: list[Outputs],
    between: NDArray[np.float64],
) -> Profile:
    seed = subject.settings.seed
    distances = [moved(plain.features, one.features) for one in seen]
    decided = _decisions(subject, plain)
    same = [] if decided is None else [decided == _decisions(subject, one) for one in seen]
    first = images.pixels(0)
    examples = [
        picture(_transform(subject, images, variation, level)(first, 0), word, side=112)
        for level, word in zip(variation.levels, variation.words, strict=True)
    ]
    return Profile(
        name=variation.name,
        title=variation.title,
        unit=variation.unit,
        plain=variation.plain,
        levels=variation.levels,
        words=variation.words,
        movement=tuple(movement(one, between, seed=seed) for one in distances),
        mean=movement(np.mean(distances, axis=0), between, seed=seed),
        cosine=tuple(1 - float(one.mean()) for one in distances),
        same=tuple(Estimate.share(np.asarray(one)) for one in same),
        examples=tuple(examples),
    )


def _transform(subject: Subject, images: Prepared, variation: Variation, level: float) -> Transform:
    def transform(pixels: Pixels, position: int) -> Pixels:
        rng = generator(subject.settings.seed, variation.name, int(images.indices[position]))
        return variation.apply(pixels, level, rng)

    return transform


def _decisions(subject: Subject, outputs: Outputs) -> NDArray[np.int64] | None:
    """(N,) among the data's classes, or among the classifier's own where there are no labels."""
    if outputs.native is None:
        return None
    try:
        probabilities = subject.selection.probabilities(outputs.native)
    except NotApplicable:
        probabilities = outputs.native
    return probabilities.argmax(axis=1)
