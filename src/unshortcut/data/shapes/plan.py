"""What is to be seen in an image, in units of the image: the same plan for every size."""

from dataclasses import dataclass
from math import exp, hypot, pi, radians, sqrt

from unshortcut.data.shapes.colors import Color, Colors, color, throw_colors
from unshortcut.data.shapes.dice import Dice
from unshortcut.data.shapes.outlines import OUTLINES, SHAPE_NAMES, Points, placed, wobbled
from unshortcut.randomness import generator

PLACE_NAMES: tuple[str, ...] = ("top left", "top right", "bottom left", "bottom right")

RADIUS = (0.26, 0.41)
"""Of the circle around an object, in units of the image, as all lengths here."""
TILT = radians(15.0)
TEXTURE_TILT = radians(30.0)
"""Sets how easy texture is to learn: at 15 degrees it is all that is read, at 180 shape is too."""
PERIOD = (0.095, 0.12)
SCENE_PERIOD = (0.062, 0.078)
"""Smaller objects, finer textures."""
MARGIN = 0.02

Circle = tuple[float, float, float]
"""x, y and radius."""


@dataclass(frozen=True)
class Texture:
    """One laying of a texture: see `draw.paint_texture` for the units."""

    kind: int
    period: float
    angle: float
    origin: tuple[float, float]


@dataclass(frozen=True)
class Thing:
    """One object: its outline in place, its texture and its colors."""

    shape: int
    center: tuple[float, float]
    points: Points
    texture: Texture
    colors: Colors


@dataclass(frozen=True)
class Background:
    """See `draw.paint_background`."""

    angle: float
    weights: tuple[float, float, float]
    stretch: float
    salt: int


@dataclass(frozen=True)
class Pen:
    """How a sketch is drawn: line width in units of the image, colors of paper and line."""

    width: float
    paper: Color
    ink: Color


def factors(split: str, index: int) -> tuple[int, int, int]:
    """Shape, texture and quarter turns of an image: in turn, so that every stretch is balanced.

    In `conflict` each shape meets each other texture once in 56 images, and its own never.
    """
    shapes = len(SHAPE_NAMES)
    shape, lap = index % shapes, index // shapes
    texture = (shape + 1 + lap % (shapes - 1)) % shapes if split == "conflict" else shape
    return shape, texture, lap % 4 if split == "rotated" else 0


@dataclass(frozen=True)
class Plan:
    """Everything that is drawn at random for one image."""

    things: tuple[Thing, ...]
    background: Background
    pen: Pen | None
    """For a sketch, else None."""
    turns: int
    """Quarter turns counterclockwise of the finished image."""
    style: int | None
    """For the split `stylized`, the number of the pattern that is laid over all, else None."""

    @property
    def color(self) -> int:
        return self.things[0].colors.named

    @property
    def place(self) -> int:
        """Index into `PLACE_NAMES`: where the first object's center is after the turns."""
        x, y = self.things[0].center
        for _ in range(self.turns):
            x, y = y, 1 - x
        return int(x >= 0.5) + 2 * int(y >= 0.5)


def throw_plan(seed: int, split: str, index: int, palette: bool) -> Plan:
    """The plan of an image, a pure function of its key; `palette` changes colors alone."""
    dice = Dice(generator(seed, "shapes", split, index))
    shape, texture, turns = factors(split, index)
    background = _throw_background(dice)
    pen = _throw_pen(dice) if split == "sketch" else None
    wobble = dice.uniform(0.0, 0.05) if split == "sketch" else 0.0
    circles = _throw_circles(dice) if split == "scene" else [_throw_circle(dice, *RADIUS)]
    things: list[Thing] = []
    for circle in circles:
        if things:
            shape = texture = dice.integer(len(SHAPE_NAMES))
        colors = throw_colors(dice, palette)
        if palette and things:
            colors = things[0].colors
        points = _throw_outline(dice, shape, circle, wobble)
        laid = _throw_texture(dice, texture, SCENE_PERIOD if split == "scene" else PERIOD)
        things.append(Thing(shape, circle[:2], points, laid, colors))
    style = dice.integer(2**31) if split == "stylized" else None
    return Plan(tuple(things), background, pen, turns, style)


def _throw_circle(dice: Dice, low: float, high: float) -> Circle:
    """A circle inside the image."""
    radius = dice.uniform(low, high)
    near, far = radius + MARGIN, 1 - radius - MARGIN
    return dice.uniform(near, far), dice.uniform(near, far), radius


def _throw_circles(dice: Dice) -> list[Circle]:
    """Two to five circles inside the image that do not meet."""
    count = 2 + dice.integer(4)
    circles: list[Circle] = []
    scale = 1 / sqrt(count)
    while len(circles) < count:
        x, y, radius = _throw_circle(dice, 0.28 * scale, 0.37 * scale)
        if all(hypot(x - a, y - b) > radius + r + MARGIN for a, b, r in circles):
            circles.append((x, y, radius))
        else:
            # A crowded image has room for smaller objects only.
            scale *= 0.99
    return circles


def _throw_outline(dice: Dice, shape: int, circle: Circle, wobble: float) -> Points:
    outline = OUTLINES[SHAPE_NAMES[shape]]
    if wobble:
        outline = wobbled(outline, wobble, 3 + dice.integer(5), dice.uniform(0, 2 * pi))
    return placed(
        outline,
        circle[:2],
        circle[2],
        angle=dice.uniform(-TILT, TILT),
        stretch=dice.uniform(0.85, 1.18),
        mirrored=dice.integer(2) == 1,
    )


def _throw_texture(dice: Dice, kind: int, period: tuple[float, float]) -> Texture:
    return Texture(
        kind,
        dice.uniform(*period),
        dice.uniform(-TEXTURE_TILT, TEXTURE_TILT),
        (dice.uniform(), dice.uniform()),
    )


def _throw_background(dice: Dice) -> Background:
    return Background(
        dice.uniform(0, 2 * pi),
        (dice.uniform(0.0, 0.6), dice.uniform(0.1, 1.1), dice.uniform(0.4, 1.3)),
        exp(dice.uniform(0.0, 1.8)),
        dice.integer(2**31),
    )


def _throw_pen(dice: Dice) -> Pen:
    paper = color(dice.uniform(), dice.uniform(0.0, 0.3), dice.uniform(0.85, 0.98))
    ink = color(dice.uniform(), dice.uniform(0.0, 0.8), dice.uniform(0.02, 0.2))
    return Pen(dice.uniform(0.018, 0.035), paper, ink)
