"""The `shapes` data set: a source whose images are rendered on demand."""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.data.regions import Regions, presence
from unshortcut.data.shapes.colors import COLOR_NAMES
from unshortcut.data.shapes.context import CONTEXTS, ODD
from unshortcut.data.shapes.outlines import SHAPE_NAMES
from unshortcut.data.shapes.paint import paint
from unshortcut.data.shapes.plan import POSITION_NAMES, SCENES, ImagePlan, factors, sample_plan
from unshortcut.data.shapes.scenes import MASK_CLASSES, Scene, draw_scene, scene_regions
from unshortcut.data.shapes.textures import ALL_TEXTURE_NAMES, TEXTURE_NAMES
from unshortcut.data.source import ArrayImage, ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.imaging.corruptions import CORRUPTIONS, corrupt
from unshortcut.randomness import generator

_TESTS = ("test", "conflict", "sketch", "silhouette", "texture", "rotated", "stylized", "corrupted")
COUNTS = {"train": 6000, "val": 1000} | dict.fromkeys(_TESTS, 2000) | {"scene": 1000}
COUNTS |= {"scene-train": 4000, "scene-val": 500, "scene-test": 1000}
COUNTS |= {"context-train": 4000, "context-val": 500, "context-test": 1000, ODD: 1000}
COUNTS |= {"paired": 6000, "paired-test": 2000, "unseen": 2000}
"""Default number of images of each split."""

SIZES = dict.fromkeys(("scene-train", "scene-val", "scene-test", *CONTEXTS), 128)
"""Default size of the images of splits in which it is not 64 px."""

SPLITS: tuple[str, ...] = tuple(COUNTS)

FACTORS: dict[str, tuple[str, ...]] = {
    "shape": SHAPE_NAMES,
    "texture": TEXTURE_NAMES,
    "color": COLOR_NAMES,
    "position": POSITION_NAMES,
}
"""The factors that can serve as the label, with the names of their classes; `unseen` has further
textures."""

ABSENT: dict[str, tuple[str, ...]] = {
    "sketch": ("texture", "color"),
    "silhouette": ("texture",),
    "texture": ("position",),
    "stylized": ("texture", "color"),
}
"""The factors that are missing from a split; their labels are -1."""

SMALLEST = 16
LEVELS = 5
"""Number of severities of a corruption."""
KEPT_BYTES = 2**28
"""Memory for images that were drawn: all of `train` up to 120 px."""


class Shapes(ImageSource):
    """Rendered objects whose shape and texture agree or conflict, or that have only one of them.

    Image `index` of a split depends only on seed, split, index and size, not on `count`.

    In `train`, `val`, `test` and `rotated`, class k has shape k and texture k. In `texture`, the
    shape label is the class that the texture belongs to. In `stylized`, object and background have
    the colors and the texture of a random pattern, which is independent of the class. `corrupted`
    cycles through the corruptions of ImageNet-C and their severities. The scenes have several
    objects, with boxes, masks and `multilabels` of their shapes; the labels are those of the first
    object. In the scenes with context, all shapes are of one group, except for one object of each
    scene of `context-odd`, which the regions mark. In `paired`, `paired-test` and `unseen`, every
    shape has each of eight textures equally often, in `unseen` eight that no other split has.

    Args:
        split: one of `SPLITS`.
        size: side of the images in pixels; None uses the default of the split, 64 px, or 128 px for
            the scenes to train and test on.
        count: number of images; None uses the default of the split.
        seed: random seed of the images.
        palette: give the background the object's hues, a deliberate color shortcut; everything
            else stays the same.
        label: the factor that `labels` and `classes` refer to, one of `FACTORS`.
    """

    def __init__(
        self,
        split: str = "train",
        *,
        size: int | None = None,
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
            raise UsageError(f"the split '{split}' of shapes has no label '{label}'")
        size = SIZES.get(split, 64) if size is None else size
        if size < SMALLEST:
            raise UsageError(f"the size of shapes must be at least {SMALLEST}, not {size}")
        if count is not None and count < 1:
            raise UsageError(f"the count of shapes must be at least 1, not {count}")
        self.split = split
        self.size = size
        self.count = COUNTS[split] if count is None else count
        self.seed = seed
        self.palette = palette
        self.label = label
        found = np.array([factors(split, index) for index in range(self.count)], dtype=np.int64)
        self.shape_labels: IndexArray = found[:, 0]
        self.texture_labels = self._visible("texture", found[:, 1])
        self.rotation_labels: IndexArray = found[:, 2]
        """(N,): counterclockwise rotation in units of 90 degrees; 0 except in `rotated`."""
        self._drawn: dict[int, ImageArray] = {}
        """Images by index, so that every epoch after the first draws nothing."""
        self._annotated: dict[int, Regions] = {}
        if split in SCENES:
            self.box_classes, self.mask_classes = SHAPE_NAMES, MASK_CLASSES
            shown = [self._shapes(index) for index in range(self.count)]
            certain = [np.zeros(len(shapes), dtype=np.bool_) for shapes in shown]
            self.multilabels = presence(shown, certain, SHAPE_NAMES)
        further = split == "unseen" and label == "texture"
        self.classes = ALL_TEXTURE_NAMES if further else FACTORS[label]
        self.labels = getattr(self, f"{label}_labels")

    @cached_property
    def color_labels(self) -> IndexArray:
        """(N,) indices into `COLOR_NAMES`: the hue of the object's pattern."""
        return self._visible("color", self._color_and_position[:, 0])

    @cached_property
    def position_labels(self) -> IndexArray:
        """(N,) indices into `POSITION_NAMES`: the quadrant that contains the object's center."""
        return self._visible("position", self._color_and_position[:, 1])

    def __len__(self) -> int:
        return self.count

    def image(self, index: int) -> ArrayImage:
        pixels = self._drawn.get(index)
        if pixels is None:
            pixels = self._draw(index)
            if len(self._drawn) * pixels.nbytes < KEPT_BYTES:
                self._drawn[index] = pixels
        return ArrayImage(pixels.copy())

    def regions(self, index: int) -> Regions:
        if self.split not in SCENES:
            return Regions()
        found = self._annotated.get(index)
        if found is None:
            found = scene_regions(self._plan(index), self.split, self.size)
            if len(self._annotated) * self.size**2 < KEPT_BYTES // 3:
                self._annotated[index] = found
        return found.copy()

    def scene(self, index: int) -> Scene:
        """The image with boxes, masks and labels of its objects; only for the splits of scenes."""
        if self.split not in SCENES:
            raise UsageError(
                f"only {', '.join(SCENES)} of shapes are scenes, whose image has boxes, not "
                f"'{self.split}'"
            )
        return draw_scene(self._plan(index), self.split, self.size)

    def identity(self, index: int) -> str:
        shape, _, _ = factors(self.split, self._checked(index))
        return f"{self.split}/{SHAPE_NAMES[shape]}/{index:06d}"

    def fingerprint(self) -> str:
        """Hash of the arguments and the first eight images, so that it reflects the rendering."""
        arguments = (self.split, self.size, self.count, self.seed, self.palette, self.label)
        digest = hashlib.sha256(repr(arguments).encode())
        for index in range(min(8, self.count)):
            digest.update(self.image(index).array.tobytes())
            mask = self.regions(index).mask
            digest.update(b"" if mask is None else mask.tobytes())
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        """For workers, which draw the images that they need themselves."""
        return {**self.__dict__, "_drawn": {}, "_annotated": {}}

    def _draw(self, index: int) -> ImageArray:
        pixels = paint(self._plan(index), self.split, self.size)
        if self.split != "corrupted":
            return pixels
        name, severity = corruption_of(index)
        return corrupt(pixels, name, severity, generator(self.seed, "corrupted", index))

    def _checked(self, index: int) -> int:
        if not 0 <= index < self.count:
            raise IndexError(f"shapes has images 0 to {self.count - 1}, not {index}")
        return index

    def _plan(self, index: int) -> ImagePlan:
        return sample_plan(self.seed, self.split, self._checked(index), self.palette)

    def _shapes(self, index: int) -> IndexArray:
        return np.array([item.shape for item in self._plan(index).objects], dtype=np.int64)

    @cached_property
    def _color_and_position(self) -> IndexArray:
        """(N, 2): color and position, which require the full plan of each image."""
        plans = (self._plan(index) for index in range(self.count))
        return np.array([(plan.color, plan.position) for plan in plans], dtype=np.int64)

    def _visible(self, factor: str, labels: IndexArray) -> IndexArray:
        return np.full_like(labels, -1) if factor in ABSENT.get(self.split, ()) else labels


def corruption_of(index: int) -> tuple[str, int]:
    """Name and severity of the corruption of an image in the split `corrupted`."""
    names = tuple(CORRUPTIONS)
    return names[index % len(names)], 1 + index // len(names) % LEVELS
