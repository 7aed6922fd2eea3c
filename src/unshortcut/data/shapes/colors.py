"""Colors of an image: random hues at lightness levels that keep every edge visible."""

from dataclasses import dataclass

from unshortcut.data.shapes.dice import Dice

Color = tuple[float, float, float]
"""RGB in [0, 1]."""

COLOR_NAMES: tuple[str, ...] = ("red", "yellow", "green", "cyan", "blue", "magenta")

LUMA = (0.299, 0.587, 0.114)
DARK, MIDDLE, LIGHT = (0.06, 0.22), (0.42, 0.58), (0.78, 0.94)
"""Ranges of luma."""


@dataclass(frozen=True)
class Colors:
    """The colors of one object and of what is behind it."""

    named: int
    """Index into `COLOR_NAMES`: the hue of the pattern's figure."""
    object: tuple[Color, Color]
    """The pattern's ground and its figure."""
    background: tuple[Color, Color]
    """The two ends of the background's range."""


def throw_colors(dice: Dice, palette: bool) -> Colors:
    """Colors that say nothing of the class, with the object as light as what is behind it.

    The pattern is dark on light or light on dark and the background in between: the pattern
    has all the contrast there is, and the shape shows as the place where the pattern ends.
    With `palette` the background has the object's hues and saturations, so that one palette
    marks the image wherever it is cropped; the lightnesses stay what they were.
    """
    ground, figure, behind = dice.uniform(*DARK), dice.uniform(*LIGHT), dice.uniform(*MIDDLE)
    if dice.integer(2):
        ground, figure = figure, ground
    spread = dice.uniform(0.1, 0.2) * (1 if dice.integer(2) else -1)
    named = dice.integer(len(COLOR_NAMES))
    tints = [
        (dice.uniform(), dice.uniform(0.1, 0.4)),
        ((named + dice.uniform(-0.3, 0.3)) / len(COLOR_NAMES), dice.uniform(0.6, 1.0)),
        (dice.uniform(), dice.uniform(0.2, 0.8)),
        (dice.uniform(), dice.uniform(0.2, 0.8)),
    ]
    if palette:
        tints[2:] = tints[:2]
    return Colors(
        named,
        (color(*tints[0], ground), color(*tints[1], figure)),
        (color(*tints[2], behind - spread), color(*tints[3], behind + spread)),
    )


def color(hue: float, saturation: float, luma: float) -> Color:
    """The color of a hue (0 to 1, round the circle) whose luma is the one asked for.

    Luma is kept within [0.02, 0.98], where every hue can still be told.

    >>> [round(channel, 3) for channel in color(0.0, 1.0, 0.299)]
    [1.0, 0.0, 0.0]
    """
    luma = min(max(luma, 0.02), 0.98)
    red, green, blue = (
        1 - saturation * (1 - min(max(abs((hue * 6 + turn) % 6 - 3) - 1, 0.0), 1.0))
        for turn in (0, 4, 2)
    )
    own = red * LUMA[0] + green * LUMA[1] + blue * LUMA[2]
    if own >= luma:
        darker = luma / own
        return red * darker, green * darker, blue * darker
    paler = (1 - luma) / (1 - own)
    return 1 - (1 - red) * paler, 1 - (1 - green) * paler, 1 - (1 - blue) * paler
