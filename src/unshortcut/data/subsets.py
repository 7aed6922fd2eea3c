"""Subsets of a data set by rule: images of several classes, and classes of many images.

Object-aware cropping trains on a part of Open Images (OHMS) that is described by two conditions:
every image shows at least 2 classes, and every class is shown by at least 900 images. Dropping
images can make a class rare, and dropping classes can leave an image with one, so the subset here
is the largest one that fulfills both, which does not depend on the order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unshortcut.data.chosen_classes import require_multilabels
from unshortcut.data.named import NAMES
from unshortcut.data.open import DataSpec, open_data, prefixed, splits
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import write_json, write_text

DESCRIPTION, CLASSES = "subset.json", "classes.txt"


@dataclass(frozen=True)
class MadeSubset:
    """A subset that was written to a folder."""

    folder: Path
    images: Mapping[str, int]
    """Number of images of each split."""
    classes: int


def largest_subset(
    shown: NDArray[np.bool_], min_classes: int, min_images: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The images (N,) and classes (C,) of the largest subset that fulfills both conditions.

    Args:
        shown: (N, C), whether an image shows a class.
        min_classes: classes of the subset that each of its images shows, at least.
        min_images: images of the subset that show each of its classes, at least.
    """
    images, classes = np.ones(len(shown), np.bool_), np.ones(shown.shape[1], np.bool_)
    while True:
        kept = images & (shown[:, classes].sum(axis=1) >= min_classes)
        common = classes & (shown[kept].sum(axis=0) >= min_images)
        if kept.sum() == images.sum() and common.sum() == classes.sum():
            return images, classes
        images, classes = kept, common


def make_subset(
    data: str | Path, out: str | Path, *, min_classes: int = 2, min_images: int = 900
) -> MadeSubset:
    """Write the subset of a data set to a folder that can be opened in its place.

    The classes are chosen on the first split, which is the one to train on; of the others, the
    images that show at least `min_classes` of these classes are kept. The folder contains lists,
    not images.

    Args:
        data: annotated data, as in `open_data`.
        out: the folder; one of the same subset is written again.

    Raises:
        UsageError: the request is wrong, or nothing is left; nothing has been written.
    """
    for name, value in (("min_classes", min_classes), ("min_images", min_images)):
        if value < 1:
            raise UsageError(f"{name} must be at least 1, not {value}")
    spec, folder = DataSpec.parse(data), Path(out).expanduser()
    description = {
        "data": _absolute(spec.where),
        "min_classes": min_classes,
        "min_images": min_images,
    }
    _check_folder(folder)
    names: list[str | None] = [spec.split] if spec.split else [*splits(data)] or [None]
    chosen: tuple[str, ...] = ()
    lists: dict[str, list[str]] = {}
    for number, split in enumerate(names):
        source = open_data(spec.where, split=split)
        labels = require_multilabels(source, f"'{spec.where}'")
        shown = labels.values == 1
        if number == 0:
            images, classes = largest_subset(shown, min_classes, min_images)
            chosen = tuple(np.array(labels.classes)[classes].tolist())
            if not images.any():
                raise UsageError(
                    f"no part of the {len(source)} images of '{data}' has at least {min_classes} "
                    f"classes in every image and {min_images} images of every class; lower "
                    "--min-classes or --min-images"
                )
        else:
            columns = [labels.classes.index(one) for one in chosen if one in labels.classes]
            images = shown[:, columns].sum(axis=1) >= min_classes
        lists[split or "all"] = _identities(source, images)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / CLASSES, "".join(f"{name}\n" for name in chosen))
    for listed, identities in lists.items():
        write_text(folder / f"{listed}.txt", "".join(f"{one}\n" for one in identities))
    images_by_split = {listed: len(identities) for listed, identities in lists.items()}
    about = {**description, "splits": images_by_split, "classes": len(chosen)}
    write_json(folder / DESCRIPTION, about)  # last, because it makes the folder a data set
    return MadeSubset(folder, images_by_split, len(chosen))


def _identities(source: ImageSource, chosen: NDArray[np.bool_]) -> list[str]:
    return [source.identity(index) for index in np.flatnonzero(chosen).tolist()]


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DESCRIPTION).is_file():
        raise UsageError(f"{folder} contains other files; name a new folder")


def _absolute(where: str) -> str:
    """A spec that means the same from every working directory."""
    prefix, rest = prefixed(where)
    if prefix is not None:
        return f"{prefix}:{_absolute(rest)}"
    return where if where in NAMES else str(Path(where).expanduser().absolute())
