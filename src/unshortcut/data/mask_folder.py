"""Folders of masks beside images: which image has a mask, and in which file."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.data.annotated import AnnotatedSource
from unshortcut.data.class_ids import ClassIds
from unshortcut.data.folder import image_paths
from unshortcut.data.masks import EXTENSIONS, MaskFiles
from unshortcut.data.tree import extension


@dataclass(frozen=True)
class MaskFolder:
    """A folder of masks with the names of their images, and what their ids mean."""

    root: Path
    ids: ClassIds

    def files(self) -> dict[str, str]:
        """The path of each mask by its path without the extension."""
        paths = [path for path in image_paths(self.root) if extension(path) in EXTENSIONS]
        return {without_extension(path): path for path in paths}


def with_masks(source: AnnotatedSource, masks: MaskFolder, image_root: str) -> AnnotatedSource:
    """The images that have a mask, with their masks: `a/1.png` is that of `image_root/a/1.jpg`."""
    files = masks.files()
    prefix = f"{image_root}/" if image_root else ""
    stems = [without_extension(source.names[i]).removeprefix(prefix) for i in range(len(source))]
    rows = np.array([row for row, stem in enumerate(stems) if stem in files], dtype=np.int64)
    found = source.take(rows)
    found.masks = MaskFiles(masks.root, [files[stems[row]] for row in rows], masks.ids.numbers)
    found.mask_classes = masks.ids.classes
    return found


def without_extension(path: str) -> str:
    """A path without the extension of its file."""
    ending = extension(path)
    return path[: -len(ending) - 1] if ending else path
