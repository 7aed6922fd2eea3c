"""Invariance profiles: how far features move under each variation, and which decisions stay.

A variation is a change of images at several levels. Distances are cosine distances. The unit of
movement is the mean distance between different images, so that 1 means as far as another image.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from unshortcut.imaging.blur import gaussian_blur
from unshortcut.imaging.color import ColorStep, adjust
from unshortcut.imaging.diffusion import anisotropic_diffusion
from unshortcut.imaging.enhance import rotate
from unshortcut.imaging.geometry import crop, resize_box
from unshortcut.imaging.shuffle import shuffle_patches
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.classifier import Outputs
from unshortcut.measuring.subjects.images import ImageSample, Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress, part_of

SIDE = 224
"""Side of the images to which amounts in pixels refer."""

FeatureArray = NDArray[np.float32]
"""(N, D)."""
Distances = NDArray[np.float64]
"""(N,): 1 − cosine, from 0 to 2."""


@dataclass(frozen=True)
class Variation:
    """A change of an image that can be applied at several strengths."""

    name: str
    title: str
    unit: str
    """The unit of the levels."""
    label: str
    """The text of a level, as a template for `str.format`."""
    levels: tuple[float, ...]
    apply: Callable[[Pixels, float, np.random.Generator], Pixels]
    """Changes a square image by a level; each image has a generator of its own."""
    plain: float = 0.0
    """The level that changes nothing."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels as text."""
        return tuple(self.label.format(level) for level in self.levels)


def rotated(pixels: Pixels, degrees: float) -> Pixels:
    """The image rotated counterclockwise, with mirrored borders."""
    side = pixels.shape[0]
    # A corner of the rotated square reaches (√2 − 1)/2 of the side beyond the old one.
    margin = min(math.ceil((math.sqrt(2) - 1) / 2 * side) + 1, side - 1)
    wide = np.pad(pixels, ((margin, margin), (margin, margin), (0, 0)), mode="reflect")
    return crop(rotate(wide, degrees, (0, 0, 0)), margin, margin, side, side)


def enlarged(pixels: Pixels, times: float) -> Pixels:
    """The center of a square image, enlarged to the size of the image."""
    side = pixels.shape[0]
    start = (side - side / times) / 2
    return resize_box(pixels, (start, start, side / times, side / times), side, side)


VARIATIONS = (
    Variation(
        "rotation",
        "Rotation",
        "degrees",
        "{:g}°",
        (10.0, 30.0, 60.0, 90.0, 180.0),
        lambda pixels, level, _: rotated(pixels, level),
    ),
    Variation(
        "hue",
        "Hue",
        "degrees of the color circle",
        "{:g}°",
        (20.0, 45.0, 90.0, 180.0),
        lambda pixels, level, _: adjust(pixels, [(ColorStep.HUE, level / 360)]),
    ),
    Variation(
        "saturation",
        "Saturation",
        "share of the color that is removed; 1 is gray",
        "−{:.0%}",
        (0.25, 0.5, 0.75, 1.0),
        lambda pixels, level, _: adjust(pixels, [(ColorStep.SATURATION, 1 - level)]),
    ),
    Variation(
        "scale",
        "Scale",
        "enlargement of the image's center",
        "× {:g}",
        (1.1, 1.25, 1.5, 2.0),
        lambda pixels, level, _: enlarged(pixels, level),
        plain=1.0,
    ),
    Variation(
        "blur",
        "Blur",
        f"standard deviation in pixels of an image with {SIDE} × {SIDE}",
        "σ = {:g}",
        (1.0, 2.0, 4.0, 8.0),
        lambda pixels, level, _: gaussian_blur(pixels, level * len(pixels) / SIDE),
    ),
    Variation(
        "diffusion",
        "Anisotropic diffusion",
        "iterations",
        "{:g} iterations",
        (5.0, 10.0, 20.0, 40.0),
        lambda pixels, level, _: anisotropic_diffusion(pixels, iterations=int(level)),
    ),
    Variation(
        "patch_shuffle",
        "Patch shuffle",
        "patches per side",
        "{0:g} × {0:g}",
        (2.0, 4.0, 8.0, 16.0),
        lambda pixels, level, rng: shuffle_patches(pixels, min(int(level), len(pixels)), rng),
        plain=1.0,
    ),
)


@dataclass(frozen=True)
class Profile:
    """The effect of one variation at each of its levels."""

    name: str
    title: str
    unit: str
    """The unit of the levels."""
    plain: float
    """The level that changes nothing."""
    levels: tuple[float, ...]
    labels: tuple[str, ...]
    """The levels as text."""
    movement: tuple[Estimate, ...]
    """Movement at each level; 1 is as far as another image."""
    mean: Estimate
    """Mean movement over the levels."""
    cosine: tuple[float, ...]
    """Mean cosine with the features of the unchanged image, at each level."""
    same: tuple[Estimate, ...]
    """Share of unchanged decisions at each level; empty without a classifier."""
    examples: tuple[Picture, ...]


@dataclass(frozen=True)
class InvarianceResult(ImageSample):
    """The invariance profiles of one model."""

    between: float
    """Mean cosine distance between different images: the unit of movement."""
    profiles: tuple[Profile, ...]

    def at(self, name: str, level: float) -> Estimate:
        """The movement under a variation at one of its levels."""
        profile = next(one for one in self.profiles if one.name == name)
        return profile.movement[profile.levels.index(level)]


def profiles(subject: Subject, images: Prepared, on_progress: OnProgress) -> InvarianceResult:
    """Measure all levels of all variations.

    Raises `NotApplicable` if all images have the same features, so that there is no unit.
    """
    plain = subject.outputs(images)
    between = apart(plain.features)
    # Smaller distances are rounding errors of float32.
    if not between.mean() > 1e-9:
        raise NotApplicable("the model gives all images the same features")
    steps, done = sum(len(one.levels) for one in VARIATIONS), count()
    seed, decided = subject.settings.seed, _decisions(subject, plain)
    found = []
    for one in VARIATIONS:
        transforms = [_transform(subject, images, one, level) for level in one.levels]
        outputs = [
            subject.outputs(images, transform, part_of(on_progress, next(done), steps))
            for transform in transforms
        ]
        distances = [moved(plain.features, each.features) for each in outputs]
        same = [] if decided is None else [decided == _decisions(subject, each) for each in outputs]
        pixels = [transform(images.pixels(0), 0) for transform in transforms]
        profile = Profile(
            name=one.name,
            title=one.title,
            unit=one.unit,
            plain=one.plain,
            levels=one.levels,
            labels=one.labels,
            movement=tuple(movement(each, between, seed=seed) for each in distances),
            mean=movement(np.mean(distances, axis=0), between, seed=seed),
            cosine=tuple(1 - float(each.mean()) for each in distances),
            same=tuple(Estimate.share(np.asarray(each)) for each in same),
            examples=tuple(map(partial(picture, side=112), pixels, one.labels)),
        )
        found.append(profile)
    return InvarianceResult(
        num_images=len(images),
        total=images.total,
        size=images.pixels(0).shape[0],
        between=float(between.mean()),
        profiles=tuple(found),
    )


def moved(plain: FeatureArray, other: FeatureArray) -> Distances:
    """Cosine distance between the features of each image and of its changed version.

    Half the squared distance of the unit vectors, which equals 1 − cosine and is accurate for small
    distances. Features that are all zero have no direction and stay a zero vector.
    """
    difference = _unit(plain) - _unit(other)
    return np.asarray((difference**2).sum(axis=1) / 2)


def apart(plain: FeatureArray) -> Distances:
    """Mean cosine distance between the features of each image and those of the others."""
    unit = _unit(plain)
    squares = (unit**2).sum(axis=1)
    others = len(unit) - 1
    products = unit @ unit.sum(axis=0) - squares
    halves = (others * squares + squares.sum() - squares) / 2
    return np.asarray((halves - products) / others)


def movement(distances: Distances, between: Distances, *, seed: int = 0) -> Estimate:
    """Mean of `distances` (N,) divided by the mean of `between` (N,), which `apart` gives.

    The interval is a bootstrap over images. In the mean over pairs each image occurs twice, as the
    first and as the second, so its influence there is doubled.
    """
    mean = float(between.mean())

    def ratio(rows: NDArray[np.int64]) -> float:
        unit = 2 * float(between[rows].mean()) - mean
        return float(distances[rows].mean()) / unit if unit > 0 else float("nan")

    return Estimate.of(ratio, len(distances), seed=seed)


def _transform(subject: Subject, images: Prepared, variation: Variation, level: float) -> Transform:
    key = (subject.settings.seed, variation.name)
    return images.seeded(key, lambda pixels, rng: variation.apply(pixels, level, rng))


def _decisions(subject: Subject, outputs: Outputs) -> NDArray[np.int64] | None:
    """Decisions (N,) among the classes of the data, or those of the classifier without labels."""
    if outputs.native is None:
        return None
    try:
        probabilities = subject.selection.probabilities(outputs.native)
    except NotApplicable:
        probabilities = outputs.native
    return probabilities.argmax(axis=1)


def _unit(features: FeatureArray) -> NDArray[np.float64]:
    values = features.astype(np.float64)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(np.divide(values, length, out=np.zeros_like(values), where=length > 0))
