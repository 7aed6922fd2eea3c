"""The `shapes` data set: a source whose images are drawn when they are asked for."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.shapes.colors import COLOR_NAMES
from unshortcut.data.shapes.outlines import SHAPE_NAMES
from unshortcut.data.shapes.paint import masks, paint
from unshortcut.data.shapes.plan import PLACE_NAMES, Plan, factors, throw_plan
from unshortcut.data.shapes.textures import TEXTURE_NAMES
from unshortcut.data.source import ArrayImage, ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.imaging.corruptions import CORRUPTIONS, corrupt
from unshortcut.randomness import generator

Labels = NDArray[np.int64]

COUNTS: dict[str, int] = {
    "train": 6000,
    "val": 1000,
    "test": 2000,
    "conflict": 2000,
    "sketch": 2000,
    "silhouette": 2000,
    "texture": 2000,
    "rotated": 2000,
    "stylized": 2000,
    "corrupted": 2000,
    "scene": 1000,
}
"""How many images a split has unless told otherwise."""

SPLITS: tuple[str, ...] = tuple(COUNTS)

FACTORS: dict[str, tuple[str, ...]] = {
    "shape": SHAPE_NAMES,
    "texture": TEXTURE_NAMES,
    "color": COLOR_NAMES,
    "place": PLACE_NAMES,
}
"""What can be the label, with the names of its classes."""

ABSENT: dict[str, tuple[str, ...]] = {
    "sketch": ("texture", "color"),
    "silhouette": ("texture",),
    "texture": ("place",),
    "stylized": ("texture", "color"),
}
"""The factors that a split does not show; their labels are -1."""

SMALLEST = 16
LEVELS = 5
"""Severities of a corruption."""


@dataclass(frozen=True)
class Scene:
    """An image with every object in it."""

    image: NDArray[np.uint8]
    """(h, w, 3)"""
    boxes: NDArray[np.float32]
    """(n, 4): x0, y0, x1, y1 in pixels, the edges of the mask."""
    masks: NDArray[np.bool_]
    """(n, h, w)"""
    shape_labels: Labels
    """(n,)"""
    texture_labels: Labels
    """(n,)"""


class Shapes(ImageSource):
    """Drawn objects with a shape and a texture that agree, conflict, or stand alone.

    Image `index` of a split depends on nothing but seed, split, index and size: not on `count`.
    In `train`, `val`, `test` and `rotated` class k has shape k and texture k; in `texture` the
    shape's label is that of the texture that stands for it; in `stylized` object and background
    have the colors and the texture of a random pattern, which says nothing of the class;
    `corrupted` goes through the corruptions of ImageNet-C and their severities in turn. `label`
    picks the factor that `labels` and `classes` give. `palette` gives the background the object's
    hues: a color shortcut on purpose, all else equal. In `scene` the labels are those of the
    first object.
    """

    def __init__(
        self,
        split: str = "train",
        *,
        size: int = 64,
        count: int | None = None,
        seed: int = 0,
        palette: bool = False,
        label: str = "shape",
    ) -> None:
        if split not in SPLITS:
            raise unknown("split of shapes", split, SPLITS)
        if label not in FACTORS:
            raise unknown("label of shapes", label, FACTORS)
        if label in ABSENT.get(split, ()):
            raise UsageError(f"the split '{split}' of shapes shows no {label}")
        if size < SMALLEST:
            raise UsageError(f"shapes are at least {SMALLEST} pixels wide, not {size}")
        if count is not None and count < 1:
            raise UsageError(f"shapes needs a count of at least 1, not {count}")
        self.split = split
        self.size = size
        self.count = COUNTS[split] if count is None else count
        self.seed = seed
        self.palette = palette
        self.label = label
        drawn = np.array([factors(split, index) for index in range(self.count)], dtype=np.int64)
        self.shape_labels: Labels = drawn[:, 0]
        self.texture_labels = self._shown("texture", drawn[:, 1])
        self.rotation_labels: Labels = drawn[:, 2]
        """(N,): quarter turns counterclockwise; 0 but in the split `rotated`."""
        self.classes = FACTORS[label]
        self.labels = getattr(self, f"{label}_labels")

    @cached_property
    def color_labels(self) -> Labels:
        """(N,) indices into `COLOR_NAMES`: the hue of the object's pattern."""
        return self._shown("color", self._planned[:, 0])

    @cached_property
    def place_labels(self) -> Labels:
        """(N,) indices into `PLACE_NAMES`: the quarter of the image with the object's center."""
        return self._shown("place", self._planned[:, 1])

    def __len__(self) -> int:
        return self.count

    def image(self, index: int) -> ArrayImage:
        pixels = paint(self._plan(index), self.split, self.size)
        if self.split == "corrupted":
            name, severity = corruption_of(index)
            pixels = corrupt(pixels, name, severity, generator(self.seed, "corrupted", index))
        return ArrayImage(pixels)

    def scene(self, index: int) -> Scene:
        """The image with boxes, masks and labels of its objects; for the split `scene`."""
        if self.split != "scene":
            raise UsageError(f"the split '{self.split}' of shapes has no boxes; 'scene' has")
        plan = self._plan(index)
        covered = masks(plan, self.size)
        return Scene(
            paint(plan, self.split, self.size),
            np.stack([_box(mask) for mask in covered]),
            covered,
            np.array([thing.shape for thing in plan.things], dtype=np.int64),
            np.array([thing.texture.kind for thing in plan.things], dtype=np.int64),
        )

    def identity(self, index: int) -> str:
        shape, _, _ = factors(self.split, self._checked(index))
        return f"{self.split}/{SHAPE_NAMES[shape]}/{index:06d}"

    def fingerprint(self) -> str:
        """Of the arguments and of the first eight images: it changes with the drawing too."""
        arguments = (self.split, self.size, self.count, self.seed, self.palette, self.label)
        digest = hashlib.sha256(repr(arguments).encode())
        for index in range(min(8, self.count)):
            digest.update(self.image(index).array.tobytes())
        return digest.hexdigest()

    def _checked(self, index: int) -> int:
        if not 0 <= index < self.count:
            raise IndexError(f"shapes has images 0 to {self.count - 1}, not {index}")
        return index

    def _plan(self, index: int) -> Plan:
        return throw_plan(self.seed, self.split, self._checked(index), self.palette)

    @cached_property
    def _planned(self) -> Labels:
        """(N, 2): color and place, which only the full plan of an image tells."""
        plans = (self._plan(index) for index in range(self.count))
        return np.array([(plan.color, plan.place) for plan in plans], dtype=np.int64)

    def _shown(self, factor: str, labels: Labels) -> Labels:
        return np.full_like(labels, -1) if factor in ABSENT.get(self.split, ()) else labels


def corruption_of(index: int) -> tuple[str, int]:
    """Name and severity of the corruption of an image of the split `corrupted`."""
    names = tuple(CORRUPTIONS)
    return names[index % len(names)], 1 + index // len(names) % LEVELS


def _box(mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], dtype=np.float32)
