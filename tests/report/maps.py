"""A map with everything in it: several classes, hostile names, and images of one color each."""

import numpy as np

from tests.report.example import HOSTILE
from unshortcut.measuring.nearest import nearest_rows
from unshortcut.report.map_page import EmbeddingMap
from unshortcut.report.thumbnails import thumbnails

CLASSES = ("red", "green", "blue", HOSTILE[0])
COUNT = 120
COLORS = np.random.default_rng(0).integers(0, 256, (COUNT, 3), dtype=np.uint8)
"""The colors of the images."""


def example_map(*, labeled: bool = True, count: int = COUNT, total: int = COUNT) -> EmbeddingMap:
    """Images on a circle, so that the neighbors of an image are those beside it."""
    angles = 2 * np.pi * np.arange(count) / count
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    near, cosines = nearest_rows(places, 4)
    colors = np.resize(COLORS, (count, 3))[:, None, None]
    labels = [number * len(CLASSES) // count for number in range(count)]
    return EmbeddingMap(
        "timm:resnet50",
        "photos@val",
        tuple(f"{HOSTILE[number % 4]}/{number}.jpg" for number in range(count)),
        CLASSES if labeled else (),
        tuple((label,) if labeled else () for label in labels),
        0.5 + places / 2,
        near,
        cosines,
        thumbnails(np.broadcast_to(colors, (count, 32, 32, 3))),
        total,
        seed=0,
    )
