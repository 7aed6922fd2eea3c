"""Colours of an image: random hues at lightness levels that keep every edge visible."""

from dataclasses import dataclass

from unshortcut.data.shapes.dice import Dice

Colour = tuple[float, float, float]
"""RGB in [0, 1]."""

COLOUR_NAMES: tuple[str, ...] = ("red", "yellow", "green", "cyan", "blue", "magenta")

LUMA = (0.299, 0.587, 0.114)
DARK, MIDDLE, LIGHT = (0.06, 0.22), (0.42, 0.58), (0.78, 0.94)
"""Ranges of luma."""


@dataclass(frozen=True)
class Colours:
    """The colours of one object and of what is behind it."""

    named: int
    """Index into `COLOUR_NAMES`: the hue of the pattern's figure."""
    object: tuple[Colour, Colour]
    """The pattern's ground and its figure."""
    background: tuple[Colour, Colour]
    """The two ends of the background's range."""


def throw_colours(dice: Dice, palette: bool) -> Colours:
    """Colours that say nothing of the class, with the object as light as what is behind it.

    The pattern is dark on light or light on dark and the background in between: the pattern
    has all the contrast there is, and the shape shows as the place where the pattern ends.
    With `palette` the background has the object's hues and saturations, so that one palette
    marks the image wherever it is cropped; the lightnesses stay what they were.
    """
    ground, figure, behind = dice.uniform(*DARK), dice.uniform(*LIGHT), dice.uniform(*MIDDLE)
    if dice.integer(2):
        ground, figure = figure, ground
    spread = dice.uniform(0.1, 0.2) * (1 if dice.integer(2) else -1)
    named = dice.integer(len(COLOUR_NAMES))
    tints = [
        (dice.uniform(), dice.uniform(0.1, 0.4)),
        ((named + dice.uniform(-0.3, 0.3)) / len(COLOUR_NAMES), dice.uniform(0.6, 1.0)),
        (dice.uniform(), dice.uniform(0.2, 0.8)),
        (dice.uniform(), dice.uniform(0.2, 0.8)),
    ]
    if palette:
        tints[2:] = tints[:2]
    return Colours(
        named,
        (colour(*tints[0], ground), colour(*tints[1], figure)),
        (colour(*tints[2], behind - spread), colour(*tints[3], behind + spread)),
    )


def colour(hue: float, saturation: float, luma: float) -> Colour:
    """The colour of a hue (0 to 1, round the circle) whose luma is the one asked for.

    Luma is kept within [0.02, 0.98], where every hue can still be told.

    >>> [round(channel, 3) for channel in colour(0.0, 1.0, 0.299)]
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
