"""The layout of a data set: which files are images, and which folders are splits and classes.

The rules are the same for a folder and for a tar file of it; `docs/data.md` explains them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshortcut.errors import UsageError, unknown

IMAGE_EXTENSIONS = frozenset(
    {"jpg", "jpeg", "jpe", "jfif", "png", "webp", "bmp", "dib", "gif", "tif", "tiff"}
    | {"ppm", "pgm", "pbm", "pnm", "jp2", "avif"}
)
SNIFF_BYTES = 16

_MAGIC = (
    *(b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a"),
    *(b"BM", b"II*\x00", b"MM\x00*"),
)
_STANDARD_SPLITS = ("train", "val", "test")
_SPLIT_OF_FOLDER = {
    "train": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
}


@dataclass(frozen=True)
class SplitSelection:
    """The images of one split: their positions in the list of paths, classes and labels."""

    positions: NDArray[np.int64]
    classes: tuple[str, ...] | None
    labels: NDArray[np.int64] | None


def is_hidden(name: str) -> bool:
    """Whether a file or folder is to be ignored: hidden, or metadata of a Mac archive."""
    return name.startswith(".") or name == "__MACOSX"


def extension(path: str) -> str:
    """The extension in lower case without the dot, or ''."""
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot and stem else ""


def looks_like_image(start: bytes) -> bool:
    """Whether a file without an extension starts like an image file."""
    return (
        start.startswith(_MAGIC)
        or (start[:4] == b"RIFF" and start[8:12] == b"WEBP")
        or start[4:12] in (b"ftypavif", b"jP  \r\n\x87\n")
    )


def split_names(paths: Sequence[str]) -> tuple[str, ...]:
    """The splits of a data set: its top folders, if they have the usual names.

    Top folders are splits if `train` and one of `val`, `valid`, `validation`, `test` are among
    them, or if all of them have such names; next to `car` and `dog`, `train` is a class.
    """
    tops = _top_folders(paths)
    if tops is None:
        return ()
    standard = {top for top in tops if top in _SPLIT_OF_FOLDER}
    if not standard or (standard != tops and ("train" not in standard or len(standard) < 2)):
        return ()
    named = {_SPLIT_OF_FOLDER.get(top, top) for top in tops}
    return (*(s for s in _STANDARD_SPLITS if s in named), *sorted(named - {*_STANDARD_SPLITS}))


def select(paths: Sequence[str], split: str | None, where: str) -> SplitSelection:
    """Select the images of a split; without one, those of `train`, or all if there is no `train`.

    A class is the first folder below the split, with all files below it. Labels are numbered over
    the classes of all splits, so that they mean the same in each. A split is unlabeled if some
    of its images are in no class folder, or if there is a single class.
    """
    splits = split_names(paths)
    if split is None and "train" in splits:
        split = "train"
    if split is None:
        positions = np.arange(len(paths), dtype=np.int64)
    else:
        chosen = {split} | {folder for folder, name in _SPLIT_OF_FOLDER.items() if name == split}
        hits = [i for i, path in enumerate(paths) if _folder(path, 0) in chosen]
        if not hits:
            raise _no_split(split, splits or tuple(_top_folders(paths) or ()), where)
        positions = np.array(hits, dtype=np.int64)
    depth = 1 if splits or split is not None else 0
    folders = [_folder(path, depth) for path in paths]
    classes = tuple(sorted({folder for folder in folders if folder is not None}))
    if len(classes) < 2 or any(folders[i] is None for i in positions):
        return SplitSelection(positions, None, None)
    number = {name: i for i, name in enumerate(classes)}
    labels = np.array([number[folders[i] or ""] for i in positions], dtype=np.int64)
    return SplitSelection(positions, classes, labels)


def _folder(path: str, depth: int) -> str | None:
    """The folder of a path at a depth, or None if the file is not below one."""
    parts = path.split("/", depth + 1)
    return parts[depth] if len(parts) > depth + 1 else None


def _top_folders(paths: Sequence[str]) -> set[str] | None:
    """The folders at the top, or None if there are images next to them."""
    tops = set()
    for path in paths:
        top, slash, _ = path.partition("/")
        if not slash:
            return None
        tops.add(top)
    return tops


def _no_split(split: str, known: tuple[str, ...], where: str) -> UsageError:
    if not known:
        return UsageError(f"{where} has no split '{split}': it has no splits.")
    return unknown(f"split of {where}", split, known)
