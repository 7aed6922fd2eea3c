"""A small picture searched in images: normalized cross-correlation with slack in place and size."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray

SCALES = (1.0, 0.9, 1.1)
"""Sizes relative to the template at which it is searched; the first that fits best counts."""
STEADY = 24.0
"""Pixels whose levels differ by less than this (robust standard deviation) belong to a template."""
LEAST = 0.06
"""Share of the pixels of a template that must be steady; else all of them count."""
_FLAT = 1.0
"""Levels by which a window must vary, as a standard deviation; a flat one correlates with all."""


@dataclass(frozen=True)
class Template:
    """The picture to search; pixels outside of the mask do not count."""

    pixels: ImageArray
    """(h, w, 3)"""
    mask: NDArray[np.bool_]
    """(h, w)"""

    @classmethod
    def of(cls, pixels: ImageArray) -> "Template":
        """A template of which every pixel counts."""
        return cls(pixels, np.ones(pixels.shape[:2], dtype=bool))

    def resized(self, scale: float) -> "Template":
        height, width = (max(2, round(side * scale)) for side in self.mask.shape)
        if (height, width) == self.mask.shape:
            return self
        pixels = cv2.resize(self.pixels, (width, height), interpolation=cv2.INTER_AREA)
        mask = cv2.resize(self.mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_AREA)
        return Template(np.asarray(pixels, dtype=np.uint8), mask.astype(bool))

    def extent(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the pixels that count."""
        rows, columns = (np.flatnonzero(self.mask.any(axis=axis)) for axis in (1, 0))
        return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@dataclass(frozen=True)
class Match:
    """Where a template fits an image best."""

    score: float
    """Correlation, from -1 to 1."""
    box: tuple[int, int, int, int]
    """Left, top, right and bottom of the whole template, in pixels of the image."""
    scale: float


def best_match(image: ImageArray, template: Template, scales: Sequence[float] = SCALES) -> Match:
    """The best place of a template in an image (H, W, 3); -1 if it is larger than the image."""
    best = Match(-1.0, (0, 0, 0, 0), 1.0)
    for scale in scales:
        scaled = template.resized(scale)
        height, width = scaled.mask.shape
        if height > image.shape[0] or width > image.shape[1] or scaled.mask.sum() < 4:
            continue
        scores = correlations(image, scaled)
        top, left = np.unravel_index(int(scores.argmax()), scores.shape)
        if scores[top, left] > best.score:
            box = (int(left), int(top), int(left) + width, int(top) + height)
            best = Match(float(scores[top, left]), box, scale)
    return best


def correlations(image: ImageArray, template: Template) -> NDArray[np.float32]:
    """Correlation of the template with the image at every place, (H - h + 1, W - w + 1).

    The mean over the pixels that count is subtracted from each channel, and the sum over channels
    is normalized; places that are flat have 0.
    """
    weights = template.mask.astype(np.float32)
    count = float(weights.sum())
    pixels = template.pixels.astype(np.float32)
    centered = (pixels - pixels[template.mask].mean(axis=0)) * weights[:, :, None]
    norm = float(np.sqrt((centered**2).sum()))
    if norm < _FLAT * np.sqrt(count):
        return np.zeros(
            (image.shape[0] - len(weights) + 1, image.shape[1] - weights.shape[1] + 1), np.float32
        )
    values = image.astype(np.float32)
    product, spread = 0.0, 0.0
    for channel in range(values.shape[2]):
        plane = np.ascontiguousarray(values[:, :, channel])
        product = product + cv2.matchTemplate(
            plane, np.ascontiguousarray(centered[:, :, channel]), cv2.TM_CCORR
        )
        sums = cv2.matchTemplate(plane, weights, cv2.TM_CCORR)
        squares = cv2.matchTemplate(plane**2, weights, cv2.TM_CCORR)
        spread = spread + np.maximum(squares - sums**2 / count, 0)
    varied = spread > count * _FLAT**2
    scores = np.where(varied, product / (norm * np.sqrt(np.maximum(spread, 1e-6))), 0)
    return np.asarray(np.clip(scores, -1, 1), dtype=np.float32)


def steady_part(template: Template, examples: Sequence[ImageArray]) -> Template:
    """The part of a template that looks the same in examples (h, w, 3) of its size.

    Whatever is around a tag differs from image to image, and the tag does not. The result has the
    median of the examples; the whole template if less than `LEAST` of it is steady.
    """
    stacked = np.stack([template.pixels, *examples]).astype(np.float32)  # (K, h, w, 3)
    middle = np.median(stacked, axis=0)
    spread = 1.4826 * np.median(np.abs(stacked - middle), axis=0).max(axis=2)
    mask = cv2.medianBlur((spread < STEADY).astype(np.uint8), 3).astype(bool)
    if mask.mean() < LEAST:
        return template
    return replace(template, pixels=middle.round().astype(np.uint8), mask=mask)
