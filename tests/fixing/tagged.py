"""Drawn shapes of which one class carries a tag in its corner in most images."""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage, DerivedSource

TAG = 10
"""Side of the tag in pixels."""
BOX = (2.0, 2.0, 2.0 + TAG, 2.0 + TAG)
TAGGED_CLASS = 0


class Tagged(DerivedSource):
    """Shapes with a tag in a share of the images of one class."""

    def __init__(self, split: str, count: int, share: float = 0.95, *, tagged: bool = True) -> None:
        super().__init__(Shapes(split, count=count))
        assert self.labels is not None
        drawn = np.random.default_rng(count).random(count) < share
        self.carries: NDArray[np.bool_] = drawn & (self.labels == TAGGED_CLASS) & tagged

    def image(self, index: int) -> ArrayImage:
        pixels = self.source.image(index).pixels().copy()
        if self.carries[index]:
            left, top, right, bottom = map(int, BOX)
            checks = np.indices((TAG, TAG)).sum(axis=0) // 2 % 2
            pixels[top:bottom, left:right] = np.where(checks[..., None], (255, 0, 255), (0, 255, 0))
        return ArrayImage(pixels)

    def fingerprint(self) -> str:
        return f"{self.source.fingerprint()} tagged {self.carries.tobytes().hex()}"


def write_cues(path: Path, *sources: Tagged, boxes: bool = True) -> Path:
    """The file of the images that carry the tag."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "group", *(["x0", "y0", "x1", "y1"] if boxes else [])])
        for source in sources:
            for index in np.flatnonzero(source.carries).tolist():
                writer.writerow([source.identity(index), "tag", *(BOX if boxes else ())])
    return path
