"""A folder of images and a folder of masks with their names."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import numpy as np

from unshortcut.data.annotated import AnnotatedSource
from unshortcut.data.annotated_layout import AnnotatedLayout
from unshortcut.data.class_ids import ClassIds, read_class_ids
from unshortcut.data.failures import Failure
from unshortcut.data.folder import image_paths
from unshortcut.data.mask_folder import MaskFolder, with_masks
from unshortcut.data.masks import count_ids, read_ids
from unshortcut.data.regions import IGNORED
from unshortcut.data.source import BadImageError
from unshortcut.data.split_folders import split_folders

_NAMES = ("classes.yaml", "classes.txt")
_THREADS = 8


class Masks(AnnotatedLayout):
    """`images/NAME.jpg` and `masks/NAME.png`, or `images/train/…` and `masks/train/…`.

    A mask has a class id in each pixel, as a gray value or an index of its palette. `classes.yaml`
    or `classes.txt` gives their names, and which ids do not count. Without it, all masks are read
    once to find their ids; 255 then does not count.
    """

    name: ClassVar[str] = "masks"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        is_folder = {name: (root / name).is_dir() for name in ("images", "masks", "labels")}
        return is_folder["images"] and is_folder["masks"] and not is_folder["labels"]

    def splits(self) -> tuple[str, ...]:
        return tuple(self._folders())

    def images(self, split: str) -> AnnotatedSource:
        folder = f"images/{self._folders()[split]}".rstrip("/")
        names = [f"{folder}/{name}" for name in image_paths(self.root / folder)]
        masks = MaskFolder(self.root / "masks", self._ids())
        source = with_masks(AnnotatedSource(self.root, names), masks, "images")
        if not len(source):
            raise self.broken(f"no image in {folder}/ has a mask of its name in masks/")
        masked = {source.names[index] for index in range(len(source))}
        source.left_out = tuple(
            Failure(name, "it has no mask") for name in names if name not in masked
        )
        return source

    def _folders(self) -> dict[str, str]:
        for name in ("images", "masks"):
            if not (self.root / name).is_dir():
                raise self.broken(f"there is no folder {name}/")
        return split_folders(self.root / "images")

    def _ids(self) -> ClassIds:
        for name in _NAMES:
            if (self.root / name).is_file():
                return read_class_ids(self.root / name)
        files = MaskFolder(self.root / "masks", ClassIds({})).files().values()
        with ThreadPoolExecutor(_THREADS) as pool:
            found = set().union(*pool.map(_ids_in, (self.root / "masks" / name for name in files)))
        ids = ClassIds({one: str(one) for one in sorted(found - {IGNORED})})
        if len(ids.classes) < 2:
            raise self.broken(
                f"masks need two classes, but their ids are {sorted(found)}, of which 255 does not "
                "count; classes.txt can name them, as in the lines '0 background' and '255 cat'"
            )
        return ids


def _ids_in(path: Path) -> set[int]:
    """The ids in a mask; none if it cannot be read, which is an error when its turn comes."""
    try:
        return {int(one) for one in np.flatnonzero(count_ids(read_ids(path)))}
    except BadImageError:
        return set()
