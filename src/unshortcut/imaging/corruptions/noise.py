"""Noise: Gaussian (a sensor in poor light), shot (the light itself) and impulse (broken bits)."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from unshortcut.arrays import ImageArray
from unshortcut.imaging.corruptions.corruption import compiled
from unshortcut.imaging.corruptions.severities import Parameters

Field = NDArray[np.float32]


def draw_normal(rng: np.random.Generator, height: int, width: int, parameters: Parameters) -> Field:
    """(h, w, 3) standard normal values."""
    return rng.standard_normal((height, width, 3), np.float32)


def draw_uniform(
    rng: np.random.Generator, height: int, width: int, parameters: Parameters
) -> Field:
    """(h, w, 3) values from 0 to 1."""
    return rng.random((height, width, 3), np.float32)


def gaussian_noise(image: ImageArray, parameters: Parameters, drawn: Field) -> ImageArray:
    """x + σ n, with n from `draw_normal`."""
    (scale,) = parameters
    out = np.empty(image.shape, np.uint8)
    _add(image.reshape(-1), drawn.reshape(-1), scale, out.reshape(-1))
    return out


def shot_noise(image: ImageArray, parameters: Parameters, drawn: Field) -> ImageArray:
    """A Poisson variable of mean c x, over c.

    It is the u-quantile of that distribution, with u from `draw_uniform`: there are only 256
    means, so their distributions are tables, and one number a sample is enough.
    """
    (photons,) = parameters
    cumulated, starts, levels = _poisson(photons)
    out = np.empty(image.shape, np.uint8)
    _quantiles(
        image.reshape(-1),
        drawn.reshape(-1),
        cumulated,
        starts,
        levels,
        out.reshape(-1),
    )
    return out


def impulse_noise(image: ImageArray, parameters: Parameters, drawn: Field) -> ImageArray:
    """Samples whose u (from `draw_uniform`) is below the amount are white, or black, half each."""
    (amount,) = parameters
    out = image.copy()
    out[drawn < amount] = 0
    out[drawn < amount / 2] = 255
    return out


_STARTS = 256


@lru_cache(maxsize=16)
def _poisson(
    photons: float,
) -> tuple[NDArray[np.float32], NDArray[np.int16], NDArray[np.uint8]]:
    """For each level x of 256 the distribution of the photons it sends.

    Returns:
        P(k photons or fewer) as (256, K), the count at which to begin the search for a u by
        its first 8 bits as (256, 256), and the level that a count gives as (K,).
    """
    means = np.arange(256) / 255.0 * photons
    counts = np.arange(int(photons + 8 * photons**0.5 + 12))
    cumulated = pdtr(counts, means[:, None]).astype(np.float32)
    # No u of 24 bits is above this, so that every search ends.
    cumulated[:, -1] = 1
    bounds = np.arange(_STARTS, dtype=np.float32) / _STARTS
    starts = np.stack([np.searchsorted(row, bounds) for row in cumulated]).astype(np.int16)
    levels = (np.clip(counts / photons, 0, 1) * 255).astype(np.uint8)
    return cumulated, starts, levels


@compiled
def _add(image, noise, scale, out):  # type: ignore[no-untyped-def]
    for i in range(image.size):
        value = image[i] / 255.0 + scale * noise[i]
        out[i] = np.uint8(np.int32(min(max(value, 0.0), 1.0) * 255.0))


@compiled
def _quantiles(image, uniform, cumulated, starts, levels, out):  # type: ignore[no-untyped-def]
    for i in range(image.size):
        level, u = image[i], uniform[i]
        count = starts[level, np.int32(u * _STARTS)]
        while cumulated[level, count] < u:
            count += 1
        out[i] = levels[count]
