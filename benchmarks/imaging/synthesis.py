"""Texture synthesis compared with the papers' Rust tool.

The tool is not a Python package, so its time is assumed to be that of 104 MedPy diffusions (20
iterations, 224×224 RGB, per channel), the ratio measured on an idle machine.
"""

from collections.abc import Sequence
from statistics import median

import numpy as np

from benchmarks.common import alternate
from unshortcut.imaging.synthesis import example_patches, synthesize_texture

DIFFUSIONS = 104
PHOTOS, ROUNDS = 16, 5


def figures(photos: Sequence[np.ndarray]) -> dict[str, float]:
    """`photos` are uint8 (224, 224, 3)."""
    from medpy.filter.smoothing import anisotropic_diffusion

    def ours(item: int) -> np.ndarray:
        patches = example_patches(photos[item], np.random.default_rng(item))
        return synthesize_texture(patches, 224, 224, seed=item)

    def diffusion(item: int) -> list[np.ndarray]:
        channels = np.moveaxis(photos[item].astype(np.float32), -1, 0)
        return [
            anisotropic_diffusion(channel, niter=20, kappa=20, gamma=0.1, option=1)
            for channel in channels
        ]

    count = min(PHOTOS, len(photos))
    paired = alternate(ours, diffusion, count, ROUNDS)
    return {
        "synthesis_seconds": median(paired.ours) / count,
        "synthesis_vs_rust": DIFFUSIONS * paired.ratio,
    }
