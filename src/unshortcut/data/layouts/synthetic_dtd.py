"""Synthetic-DTD: 3D objects with textures that differ between training and test.

Dissertation, section 2.4.3.1: 47 textures of DTD on objects of 10 classes of ShapeNet, 480,000
training and 72,000 test images, with no texture in both, so that texture is not a cue. The images
are not public; this is the layout for images that you render: `SPLIT/OBJECT/TEXTURE/*.png`.
"""

from pathlib import Path
from typing import ClassVar

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data.folder import FolderSource, image_paths
from unshortcut.data.layout import Layout


class SyntheticDTDSource(FolderSource):
    """Images of textured objects: the classes are objects, and the textures are known too."""

    textures: tuple[str, ...]
    """Names of the textures, over both splits."""
    texture_labels: IndexArray
    """(N,), indices into `textures`."""


class SyntheticDTD(Layout):
    """`train/OBJECT/TEXTURE/*.png` and `test/OBJECT/TEXTURE/*.png`, with no texture in both.

    A plain folder of such images opens with the same classes; the name adds the checks.
    """

    name: ClassVar[str] = "synthetic-dtd"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        return False  # OBJECT and TEXTURE could be any two levels of folders

    def splits(self) -> tuple[str, ...]:
        return ("train", "test")

    def images(self, split: str) -> SyntheticDTDSource:
        parts = {one: self._parts(one) for one in self.splits()}
        textures = {one: {row[1] for row in rows} for one, rows in parts.items()}
        both = sorted(textures["train"] & textures["test"])
        if both:
            raise self.broken(
                "textures of training and test must differ, but both have "
                f"{', '.join(both[:5])}{', …' if len(both) > 5 else ''}"
            )
        objects = sorted({row[0] for rows in parts.values() for row in rows})
        names = sorted(textures["train"] | textures["test"])
        rows = parts[split]
        source = SyntheticDTDSource(
            self.root,
            ["/".join((split, *row)) for row in rows],
            tuple(objects),
            np.array([objects.index(row[0]) for row in rows], dtype=np.int64),
        )
        source.textures = tuple(names)
        source.texture_labels = np.array([names.index(row[1]) for row in rows], dtype=np.int64)
        return source

    def _parts(self, split: str) -> list[tuple[str, str, str]]:
        """Object, texture and file of every image of a split."""
        if not (self.root / split).is_dir():
            raise self.broken(f"there is no folder {split}/")
        found = []
        for path in image_paths(self.root / split):
            parts = path.split("/")
            if len(parts) != 3:
                raise self.broken(f"{split}/{path} is not {split}/OBJECT/TEXTURE/FILE")
            found.append((parts[0], parts[1], parts[2]))
        if not found:
            raise self.broken(f"there are no images in {split}/")
        return found
