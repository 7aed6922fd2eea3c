"""What an image shows, with lengths in units of the image: one plan serves every size."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, pi, radians, sqrt
from typing import NamedTuple

from unshortcut.data.shapes.colors import Color, Colors, color, sample_colors
from unshortcut.data.shapes.context import CONTEXTS, ODD, group_of, other_group
from unshortcut.data.shapes.outlines import OUTLINES, SHAPE_NAMES, Points, placed, wobbled
from unshortcut.data.shapes.sampler import Sampler
from unshortcut.data.shapes.textures import KNOWN
from unshortcut.randomness import generator

POSITION_NAMES: tuple[str, ...] = ("top left", "top right", "bottom left", "bottom right")

RADIUS = (0.26, 0.41)
"""Range of the radius of an object's bounding circle; all lengths are in units of the image."""
TILT = radians(15.0)
TEXTURE_TILT = radians(30.0)
"""Sets how easy texture is to learn: at 15 degrees models use texture alone, at 180 shape too."""
PERIOD = (0.095, 0.12)
SCENE_PERIOD = (0.062, 0.078)
"""Scenes have smaller objects, and so finer textures."""
MARGIN = 0.02

INDEPENDENT = {"paired": 0, "paired-test": 0, "unseen": KNOWN}
"""Splits whose textures are independent of the shapes: the first of their eight textures."""

SCENES = ("scene", "scene-train", "scene-val", "scene-test", *CONTEXTS)
"""Splits whose images have several objects."""

Circle = tuple[float, float, float]
"""x, y and radius."""


class TextureLayout(NamedTuple):
    """How a texture is painted; see `draw.paint_texture` for the units."""

    kind: int
    period: float
    angle: float
    origin: tuple[float, float]


class DrawnObject(NamedTuple):
    """One object: its outline at its position, its texture and its colors."""

    shape: int
    center: tuple[float, float]
    points: Points
    texture: TextureLayout
    colors: Colors


class Background(NamedTuple):
    """See `draw.paint_background`."""

    angle: float
    weights: tuple[float, float, float]
    stretch: float
    salt: int


class Pen(NamedTuple):
    """How a sketch is drawn: line width in units of the image, colors of paper and ink."""

    width: float
    paper: Color
    ink: Color


def factors(split: str, index: int) -> tuple[int, int, int]:
    """Shape, texture and rotation (in units of 90 degrees) of an image.

    They cycle with the index, so that any range of images is balanced. In `conflict`, each shape
    is combined with every other texture once in 56 images, and never with its own. In the splits
    of `INDEPENDENT`, each shape is combined with each of eight textures once in 64 images.
    """
    shapes = len(SHAPE_NAMES)
    shape, lap = index % shapes, index // shapes
    texture = shape
    if split == "conflict":
        texture = (shape + 1 + lap % (shapes - 1)) % shapes
    elif split in INDEPENDENT:
        texture = INDEPENDENT[split] + (3 * shape + 1 + lap) % shapes
    return shape, texture, lap % 4 if split == "rotated" else 0


@dataclass(frozen=True)
class ImagePlan:
    """All sampled parameters of one image."""

    objects: tuple[DrawnObject, ...]
    background: Background
    pen: Pen | None
    """Only in the split `sketch`."""
    rotations: int
    """Counterclockwise rotation of the finished image in units of 90 degrees."""
    style: int | None
    """Only in the split `stylized`: seed of the pattern that covers the whole image."""
    odd: int | None = None
    """Only in the split `context-odd`: the object that does not belong to the others."""

    @property
    def color(self) -> int:
        return self.objects[0].colors.named

    @property
    def position(self) -> int:
        """Index into `POSITION_NAMES`: where the first object's center is after the rotation."""
        x, y = self.objects[0].center
        for _ in range(self.rotations):
            x, y = y, 1 - x
        return int(x >= 0.5) + 2 * int(y >= 0.5)


def sample_plan(seed: int, split: str, index: int, palette: bool) -> ImagePlan:
    """The plan of an image, a pure function of the arguments; `palette` only changes colors."""
    sampler = Sampler(generator(seed, "shapes", split, index))
    first, texture, rotations = factors(split, index)
    shape = first
    background = _sample_background(sampler)
    pen = _sample_pen(sampler) if split == "sketch" else None
    wobble = sampler.uniform(0.0, 0.05) if split == "sketch" else 0.0
    if split in SCENES:
        circles = _sample_circles(sampler, *CONTEXTS.get(split, (2, 5)))
    else:
        circles = [_sample_circle(sampler, *RADIUS)]
    odd = sampler.integer(len(circles)) if split == ODD else None
    objects: list[DrawnObject] = []
    for number, circle in enumerate(circles):
        if objects:
            candidates: Sequence[int] = range(len(SHAPE_NAMES))
            if split in CONTEXTS:
                # Where one of the two is the odd one, this shape is not of the first one's group.
                differs = (number == odd) != (odd == 0)
                candidates = other_group(first) if differs else group_of(first)
            shape = texture = candidates[sampler.integer(len(candidates))]
        colors = sample_colors(sampler, palette)
        if palette and objects:
            colors = objects[0].colors
        points = _sample_outline(sampler, shape, circle, wobble)
        layout = _sample_texture(sampler, texture, SCENE_PERIOD if split in SCENES else PERIOD)
        objects.append(DrawnObject(shape, circle[:2], points, layout, colors))
    style = sampler.integer(2**31) if split == "stylized" else None
    return ImagePlan(tuple(objects), background, pen, rotations, style, odd)


def _sample_circle(sampler: Sampler, low: float, high: float) -> Circle:
    """A circle inside the image."""
    radius = sampler.uniform(low, high)
    near, far = radius + MARGIN, 1 - radius - MARGIN
    return sampler.uniform(near, far), sampler.uniform(near, far), radius


def _sample_circles(sampler: Sampler, fewest: int, most: int) -> list[Circle]:
    """Some disjoint circles inside the image."""
    count = fewest + sampler.integer(most - fewest + 1)
    circles: list[Circle] = []
    scale = 1 / sqrt(count)
    while len(circles) < count:
        x, y, radius = _sample_circle(sampler, 0.28 * scale, 0.37 * scale)
        if all(hypot(x - a, y - b) > radius + r + MARGIN for a, b, r in circles):
            circles.append((x, y, radius))
        else:
            # A crowded image only has room for smaller objects.
            scale *= 0.99
    return circles


def _sample_outline(sampler: Sampler, shape: int, circle: Circle, wobble: float) -> Points:
    outline = OUTLINES[SHAPE_NAMES[shape]]
    if wobble:
        outline = wobbled(outline, wobble, 3 + sampler.integer(5), sampler.uniform(0, 2 * pi))
    return placed(
        outline,
        circle[:2],
        circle[2],
        angle=sampler.uniform(-TILT, TILT),
        stretch=sampler.uniform(0.85, 1.18),
        mirrored=sampler.integer(2) == 1,
    )


def _sample_texture(sampler: Sampler, kind: int, period: tuple[float, float]) -> TextureLayout:
    return TextureLayout(
        kind,
        sampler.uniform(*period),
        sampler.uniform(-TEXTURE_TILT, TEXTURE_TILT),
        (sampler.uniform(), sampler.uniform()),
    )


def _sample_background(sampler: Sampler) -> Background:
    return Background(
        sampler.uniform(0, 2 * pi),
        (sampler.uniform(0.0, 0.6), sampler.uniform(0.1, 1.1), sampler.uniform(0.4, 1.3)),
        exp(sampler.uniform(0.0, 1.8)),
        sampler.integer(2**31),
    )


def _sample_pen(sampler: Sampler) -> Pen:
    paper = color(sampler.uniform(), sampler.uniform(0.0, 0.3), sampler.uniform(0.85, 0.98))
    ink = color(sampler.uniform(), sampler.uniform(0.0, 0.8), sampler.uniform(0.02, 0.2))
    return Pen(sampler.uniform(0.018, 0.035), paper, ink)
