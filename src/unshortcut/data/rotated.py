"""The images of a source rotated by quarter turns, with the angle as the label."""

import hashlib
from dataclasses import replace

import numpy as np

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.data.regions import Regions
from unshortcut.data.source import DerivedSource, Image, ImageSource
from unshortcut.imaging.geometry import rotate90
from unshortcut.randomness import generator

DEGREES = ("0", "90", "180", "270")
"""The classes; angles are counterclockwise."""


class Rotated(DerivedSource):
    """The images of another source, each rotated by a random multiple of 90 degrees.

    The angle of image i is determined by (seed, i). Every four consecutive images get the four
    angles in random order, so the classes are balanced whatever the order of the source. Each image
    appears only once, so a split never has the same image on both sides.
    """

    labels: IndexArray

    def __init__(self, source: ImageSource, seed: int = 0) -> None:
        super().__init__(source)
        self.classes = DEGREES
        self.labels = _sample_labels(len(source), seed)

    def image(self, index: int) -> Image:
        return RotatedImage(self.source.image(index), int(self.labels[index]))

    def regions(self, index: int) -> Regions:
        regions = self.source.regions(index)
        if regions.boxes is None and regions.mask is None:
            return regions
        upright = self.source.image(index)
        return rotate_regions(regions, int(self.labels[index]), upright.height, upright.width)

    def identity(self, index: int) -> str:
        return f"{self.source.identity(index)} rotated by {DEGREES[self.labels[index]]}°"

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"turned {self.source.fingerprint()}".encode())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()


class RotatedImage:
    """An image that is rotated when it is decoded."""

    def __init__(self, upright: Image, quarter_turns: int) -> None:
        self.upright = upright
        self.quarter_turns = quarter_turns
        sides = (upright.height, upright.width)
        self.height, self.width = sides[::-1] if quarter_turns % 2 else sides

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        return rotate90(self.upright.pixels(shrink), self.quarter_turns)


def rotate_regions(regions: Regions, quarter_turns: int, height: int, width: int) -> Regions:
    """What is annotated in an image of the given size after a rotation like that of `rotate90`."""
    boxes, mask = regions.boxes, regions.mask
    for _ in range(quarter_turns % 4):
        if boxes is not None:
            x0, y0, x1, y1 = boxes.T
            boxes = np.stack([y0, width - x1, y1, width - x0], axis=1)
        height, width = width, height
    if mask is not None:
        mask = np.ascontiguousarray(np.rot90(mask, quarter_turns))
    return replace(regions, boxes=boxes, mask=mask)


def _sample_labels(count: int, seed: int) -> IndexArray:
    """Numbers of quarter turns (count,): a permutation of all four for every four images."""
    starts = range(0, count, len(DEGREES))
    labels = [generator(seed, "turned", start).permutation(len(DEGREES)) for start in starts]
    return np.array(labels, dtype=np.int64).reshape(-1)[:count]
