"""Random colors of an image, with lightness levels that keep every edge visible."""

from dataclasses import dataclass

from unshortcut.data.shapes.sampler import Sampler

Color = tuple[float, float, float]
"""RGB in [0, 1]."""

COLOR_NAMES: tuple[str, ...] = ("red", "yellow", "green", "cyan", "blue", "magenta")

LUMA = (0.299, 0.587, 0.114)
DARK, MIDDLE, LIGHT = (0.06, 0.22), (0.42, 0.58), (0.78, 0.94)
"""Ranges of luma."""


@dataclass(frozen=True)
class Colors:
    """The colors of one object and of the background behind it."""

    named: int
    """Index into `COLOR_NAMES`: the hue of the pattern's foreground."""
    object: tuple[Color, Color]
    """Background and foreground of the pattern."""
    background: tuple[Color, Color]
    """The two colors that the image's background varies between."""


def sample_colors(sampler: Sampler, palette: bool) -> Colors:
    """Sample colors independent of the class; object and background have the same mean lightness.

    The pattern is dark on light or light on dark, with the background in between. So the contrast
    is within the pattern, and the shape is visible only where the pattern ends.
    With `palette` the background has the object's hues and saturations, so that every crop shows
    the same palette; the lightness does not change.
    """
    ground, figure = sampler.uniform(*DARK), sampler.uniform(*LIGHT)
    behind = sampler.uniform(*MIDDLE)
    if sampler.integer(2):
        ground, figure = figure, ground
    contrast = sampler.uniform(0.1, 0.2) * (1 if sampler.integer(2) else -1)
    named = sampler.integer(len(COLOR_NAMES))
    tints = [
        (sampler.uniform(), sampler.uniform(0.1, 0.4)),
        ((named + sampler.uniform(-0.3, 0.3)) / len(COLOR_NAMES), sampler.uniform(0.6, 1.0)),
        (sampler.uniform(), sampler.uniform(0.2, 0.8)),
        (sampler.uniform(), sampler.uniform(0.2, 0.8)),
    ]
    if palette:
        tints[2:] = tints[:2]
    return Colors(
        named,
        (color(*tints[0], ground), color(*tints[1], figure)),
        (color(*tints[2], behind - contrast), color(*tints[3], behind + contrast)),
    )


def color(hue: float, saturation: float, luma: float) -> Color:
    """The color with the given hue (0 to 1, around the color circle), saturation and luma.

    Luma is clipped to [0.02, 0.98], where hues remain distinguishable.

    >>> [round(channel, 3) for channel in color(0.0, 1.0, 0.299)]
    [1.0, 0.0, 0.0]
    """
    luma = min(max(luma, 0.02), 0.98)
    red, green, blue = (
        1 - saturation * (1 - min(max(abs((hue * 6 + offset) % 6 - 3) - 1, 0.0), 1.0))
        for offset in (0, 4, 2)
    )
    own = red * LUMA[0] + green * LUMA[1] + blue * LUMA[2]
    if own >= luma:
        darker = luma / own
        return red * darker, green * darker, blue * darker
    paler = (1 - luma) / (1 - own)
    return 1 - (1 - red) * paler, 1 - (1 - green) * paler, 1 - (1 - blue) * paler
