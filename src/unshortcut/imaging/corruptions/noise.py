"""Noise: Gaussian (poor light), shot (discrete photons) and impulse (bit errors)."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.imaging.corruptions.corruption import compiled
from unshortcut.imaging.corruptions.severities import Parameters
from unshortcut.randomness import Rng


def sample_normal(rng: Rng, height: int, width: int, parameters: Parameters) -> FloatArray:
    """(h, w, 3) standard normal values."""
    return rng.standard_normal((height, width, 3), np.float32)


def sample_uniform(rng: Rng, height: int, width: int, parameters: Parameters) -> FloatArray:
    """(h, w, 3) values from 0 to 1."""
    return rng.random((height, width, 3), np.float32)


def gaussian_noise(image: ImageArray, parameters: Parameters, sampled: FloatArray) -> ImageArray:
    """x + σ n, with n from `sample_normal`."""
    (scale,) = parameters
    out = np.empty(image.shape, np.uint8)
    _add(image.reshape(-1), sampled.reshape(-1), scale, out.reshape(-1))
    return out


def shot_noise(image: ImageArray, parameters: Parameters, sampled: FloatArray) -> ImageArray:
    """A Poisson variable of mean c x, divided by c.

    It is the u-quantile of that distribution, with u from `sample_uniform`: there are only 256
    means, so their distributions are tabulated, and one random number per value is enough.
    """
    (photons,) = parameters
    cumulated, starts, levels = _poisson(photons)
    out = np.empty(image.shape, np.uint8)
    flat = image.reshape(-1), sampled.reshape(-1)
    _quantiles(*flat, cumulated, starts, levels, out.reshape(-1))
    return out


def impulse_noise(image: ImageArray, parameters: Parameters, sampled: FloatArray) -> ImageArray:
    """Values whose u (from `sample_uniform`) is below the amount become 255 or 0, half each."""
    (amount,) = parameters
    out = image.copy()
    out[sampled < amount] = 0
    out[sampled < amount / 2] = 255
    return out


_STARTS = 256


@lru_cache(maxsize=16)
def _poisson(photons: float) -> tuple[FloatArray, NDArray[np.int16], NDArray[np.uint8]]:
    """The distribution of the number of photons for each of the 256 levels.

    Returns:
        P(at most k photons) as (256, K), the count at which to start the search for u, given its
        first 8 bits, as (256, 256), and the level that corresponds to a count as (K,).
    """
    means = np.arange(256) / 255.0 * photons
    counts = np.arange(int(photons + 8 * photons**0.5 + 12))
    cumulated = pdtr(counts, means[:, None]).astype(np.float32)
    # No u is above this, so that every search ends.
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
