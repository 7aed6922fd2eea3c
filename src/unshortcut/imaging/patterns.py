"""Procedural textures in random colors, used as styles if there are no style images.

Most are made of plane waves. A sum of K waves over an image is a product of two matrices with K
columns each for sines and cosines, because cos(a + b) = cos a cos b - sin a sin b; so band-limited,
directional noise takes a fraction of a millisecond.

The functions of the families return a field (h, w) with mean about 0 and standard deviation about 1
unless stated otherwise.
"""

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.randomness import Rng

_WAVES = 48


def random_pattern(rng: Rng, height: int, width: int) -> ImageArray:
    """A texture with random family, scale, direction and palette, uint8 (height, width, 3)."""
    # Parameters that do not depend on the size are sampled first, so that a seed gives the same
    # pattern at all sizes.
    palette = _palette(rng)
    family = FAMILIES[rng.integers(len(FAMILIES))]
    share = np.exp(rng.uniform(np.log(1 / 36), np.log(1 / 9)))
    period = max(3.0, float(share) * min(height, width))
    fine = rng.uniform(0.0, 0.4) * _noise(rng, height, width, max(2.5, period / 3), octaves=1.0)
    tone = family(rng, height, width, period) + fine
    levels = np.clip(tone * 64.0 + 128.0, 0.0, 255.0).astype(np.uint8)
    return np.asarray(cv2.LUT(cv2.merge([levels] * 3), palette), dtype=np.uint8)


def grain(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Band-limited noise, from isotropic to nearly one direction."""
    octaves = rng.uniform(0.3, 1.5)
    angles = rng.uniform(0, 2 * np.pi), np.pi * rng.random() ** 2
    return _noise(rng, height, width, period, octaves, angles)


def strokes(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Long parallel strokes, as in fur, wood or brushwork."""
    angle = rng.uniform(0, np.pi)
    along, across = period * rng.uniform(4, 10), period / 1.5
    waves = rng.uniform(-1, 1, _WAVES) / along, rng.uniform(0.3, 1.0, _WAVES) / across
    frequency = np.stack(waves)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    bend = [_noise(rng, height, width, period * 8, octaves=0.5) for _ in range(2)]
    field = _sum(rng, height, width, rotation @ frequency, np.ones(_WAVES))
    return _displaced(field, np.float32(period) * np.stack(bend))


def stripes(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Stripes, from straight to strongly bent and from soft to sharp."""
    phase = _ramp(rng, height, width, period)
    phase += rng.uniform(0.0, 2.5) * _noise(rng, height, width, period * 6, octaves=1.0)
    return _hard(rng, np.cos(phase))


def weave(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Two crossing gratings: checks, weave, lattices of dots."""
    phase = _ramp(rng, height, width, period, directions=2)
    bend = rng.uniform(0.0, 1.2) * _noise(rng, height, width, period * 8, octaves=1.0)
    one, other = np.cos(phase[0] + bend), np.cos(phase[1] - bend)
    mixed = one * other if rng.random() < 0.5 else one + other + rng.uniform(-1, 1)
    return _hard(rng, mixed)


def spots(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Blots and labyrinths: narrow-band noise with a threshold."""
    field = _noise(rng, height, width, period * 1.4, octaves=0.2)
    return _hard(rng, field + rng.uniform(-1.0, 1.0))


def marble(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Veins: a coarse grating, bent by noise of many octaves."""
    phase = _ramp(rng, height, width, period * 3)
    phase += rng.uniform(1.5, 4.0) * _noise(rng, height, width, period * 8, octaves=4.0)
    return np.asarray(1.5 - 3.0 * np.abs(np.sin(phase)) ** rng.uniform(0.5, 1.5), np.float32)


def cells(rng: Rng, height: int, width: int, period: float) -> FloatArray:
    """Cells around random points, each with its own tone and a soft edge: stones, scales."""
    wide = period * 2.0
    count = max(4, int(height * width / wide**2))
    seeds = np.full((height, width), 255, np.uint8)
    seeds[rng.integers(0, height, count), rng.integers(0, width, count)] = 0
    distance, label = cv2.distanceTransformWithLabels(
        seeds, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    tones = rng.normal(0.0, rng.uniform(0.2, 1.0), count + 1).astype(np.float32)
    dome = rng.uniform(0.5, 2.0) * (1.0 - distance * (2.5 / wide))
    return np.asarray(tones[label] + dome, np.float32)


Family = Callable[[Rng, int, int, float], FloatArray]
FAMILIES: tuple[Family, ...] = (grain, strokes, stripes, weave, spots, marble, cells)
"""Each takes (rng, height, width, period); its structure is about `period` pixels wide."""


def _sum(
    rng: Rng, height: int, width: int, frequency: NDArray[np.float64], weights: NDArray[np.float64]
) -> FloatArray:
    """Sum of waves with (2, K) cycles per pixel, vertical and horizontal, and random phases."""
    # The sines of float32 are five times as fast.
    omega = (2 * np.pi * frequency[:, :, None]).astype(np.float32)
    phase = rng.uniform(0, 2 * np.pi, (frequency.shape[1], 1)).astype(np.float32)
    scale = (weights * np.sqrt(2.0 / (weights**2).sum())).astype(np.float32)[:, None]
    down = omega[0] * np.arange(height, dtype=np.float32) + phase
    across = omega[1] * np.arange(width, dtype=np.float32)
    left = np.concatenate([np.cos(down) * scale, np.sin(down) * -scale])
    right = np.concatenate([np.cos(across), np.sin(across)])
    return np.asarray(left.T @ right, np.float32)


def _noise(
    rng: Rng,
    height: int,
    width: int,
    period: float,
    octaves: float,
    angles: tuple[float, float] = (0.0, 2 * np.pi),
) -> FloatArray:
    """Noise with periods of `period` and `octaves` octaves below, each half as strong as the last.

    `angles` is the range of the waves' directions: start and width, in radians.
    """
    octave = rng.uniform(0.0, octaves, _WAVES)
    angle = angles[0] + angles[1] * rng.random(_WAVES)
    frequency = np.minimum(2.0**octave / period, 0.45)
    waves = frequency * np.stack([np.sin(angle), np.cos(angle)])
    return _sum(rng, height, width, waves, 0.5**octave)


def _ramp(rng: Rng, height: int, width: int, period: float, directions: int = 1) -> FloatArray:
    """The phase of a grating (h, w), or of two nearly perpendicular ones (2, h, w)."""
    angle = rng.uniform(0, 2 * np.pi) + np.arange(directions) * rng.uniform(1.0, np.pi / 2)
    y = np.arange(height, dtype=np.float32)[:, None] * np.sin(angle)[:, None, None]
    x = np.arange(width, dtype=np.float32) * np.cos(angle)[:, None, None]
    phase = ((y + x) * (2 * np.pi / period)).astype(np.float32)
    return phase[0] if directions == 1 else phase


def _displaced(field: FloatArray, shift: FloatArray) -> FloatArray:
    """Read the field at displaced positions, with reflection at the border."""
    height, width = field.shape
    y = shift[0] + np.arange(height, dtype=np.float32)[:, None]
    x = shift[1] + np.arange(width, dtype=np.float32)
    moved = cv2.remap(field, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(moved, np.float32)


def _hard(rng: Rng, field: FloatArray) -> FloatArray:
    """Transitions of random sharpness between two tones, +1.3 and -1.3."""
    gain = np.float32(np.exp(rng.uniform(0.0, 2.0)))
    return np.asarray(np.float32(1.3) * np.tanh(gain * field), np.float32)


def _palette(rng: Rng) -> ImageArray:
    """(1, 256, 3): a gradient through four colors, the outer ones far apart in lightness."""
    stops = rng.uniform(0, 255, (4, 3))
    light = np.array([rng.uniform(10, 80), *rng.uniform(40, 215, 2), rng.uniform(175, 245)])
    if rng.random() < 0.5:
        light = light[::-1]
    # Change the lightness of each color, but not its hue.
    stops = np.clip(stops + (light - stops @ (0.299, 0.587, 0.114))[:, None], 0, 255)
    positions = np.array([0.0, *np.sort(rng.uniform(60, 195, 2)), 255.0])
    table = [np.interp(np.arange(256), positions, stops[:, k]) for k in range(3)]
    return np.asarray(np.stack(table, axis=1)[None], np.uint8)
