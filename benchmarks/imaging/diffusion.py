"""Anisotropic diffusion: speed compared with OpenCV and MedPy, and differences from MedPy."""

from collections.abc import Iterator, Sequence
from statistics import median

import cv2
import numpy as np

from benchmarks.common import alternate
from unshortcut.imaging.diffusion import CONDUCTANCES, anisotropic_diffusion

PHOTOS, ROUNDS = 24, 9
ITERATIONS, KAPPA, GAMMA = 20, 20.0, 0.1


def figures(photos: Sequence[np.ndarray]) -> dict[str, float]:
    """`photos` are uint8 (224, 224, 3)."""
    cv2.setNumThreads(1)
    timed = photos[:PHOTOS]

    def ours(item: int) -> np.ndarray:
        return anisotropic_diffusion(timed[item], iterations=ITERATIONS, kappa=KAPPA, gamma=GAMMA)

    def opencv(item: int) -> np.ndarray:
        return cv2.ximgproc.anisotropicDiffusion(timed[item], GAMMA, KAPPA, ITERATIONS)

    def medpy(item: int) -> np.ndarray:
        return _medpy(timed[item], 1, joint=False)

    beside_opencv = alternate(ours, opencv, len(timed), ROUNDS)
    beside_medpy = alternate(ours, medpy, len(timed), ROUNDS)
    floats, levels = _differences([*photos, *_adversarial()])
    return {
        "diffusion_ms": 1000 * median(beside_opencv.ours) / len(timed),
        "diffusion_vs_opencv": beside_opencv.ratio,
        "diffusion_vs_medpy": beside_medpy.ratio,
        "diffusion_max_difference_medpy": floats,
        "diffusion_max_difference_medpy_uint8": levels,
    }


def _medpy(image: np.ndarray, option: int, *, joint: bool) -> np.ndarray:
    """MedPy's float32 result, for each channel separately or for the whole array."""
    from medpy.filter.smoothing import anisotropic_diffusion as diffusion

    settings = {"niter": ITERATIONS, "kappa": KAPPA, "gamma": GAMMA, "option": option}
    if joint:
        return diffusion(image, **settings)
    return np.stack([diffusion(channel, **settings) for channel in np.moveaxis(image, -1, 0)], -1)


def _differences(images: Sequence[np.ndarray]) -> tuple[float, float]:
    """The largest differences of float32 and of uint8 results over all images and settings."""
    floats = levels = 0.0
    for image in images:
        for option, conductance in enumerate(CONDUCTANCES, start=1):
            for joint in (False, True):
                reference = _medpy(image, option, joint=joint)
                smooth, rounded = (
                    anisotropic_diffusion(
                        kind,
                        iterations=ITERATIONS,
                        kappa=KAPPA,
                        gamma=GAMMA,
                        conductance=conductance,
                        joint=joint,
                    )
                    for kind in (image.astype(np.float32), image)
                )
                floats = max(floats, float(np.abs(smooth - reference).max()))
                levels = max(levels, float(np.abs(rounded - np.rint(reference)).max()))
    return floats, levels


def _adversarial() -> Iterator[np.ndarray]:
    """Constant, one-pixel lines, one row, one column, one pixel, noise, checkerboards."""
    rng = np.random.default_rng(0)
    yield np.full((32, 32, 3), 77, np.uint8)
    lines = np.zeros((64, 64, 3), np.uint8)
    lines[31], lines[:, 20], lines[:, 40] = 255, 40, 12
    yield lines
    for shape in ((1, 97, 3), (97, 1, 3), (1, 1, 3), (64, 64, 3)):
        yield rng.integers(0, 256, shape, dtype=np.uint8)
    for deviation in (4, 8, 16, 32):
        yield np.clip(rng.normal(128, deviation, (64, 64, 3)), 0, 255).astype(np.uint8)
    board = (np.indices((64, 64)).sum(0) % 2)[..., None].repeat(3, -1)
    for high in (12, 20, 30, 60, 255):
        yield (board * high).astype(np.uint8)
