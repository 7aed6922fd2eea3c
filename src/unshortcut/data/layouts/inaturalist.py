"""iNaturalist of a competition year, with the split of LooC.

The published validation set is small, so LooC (appendix B) moves a random tenth of the training
images to it. torchvision's `INaturalist` has no validation set for 2017 to 2019 (its folder is the
training and validation images together), so the annotations are read here.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from unshortcut.arrays import IndexArray
from unshortcut.data.folder import FolderSource
from unshortcut.data.layout import Layout
from unshortcut.randomness import generator

MOVED = 0.1
"""Share of the training images of each species that LooC moves to validation."""
_SEED = 0

_FILE = re.compile(r"(train|val)(20\d\d)?\.json")


class INaturalist(Layout):
    """`train2019.json` and `val2019.json` (or of another year), beside the images that they list.

    Splits: `train` and `val` with LooC's tenth moved; `train-published` and `val-published`.
    """

    name: ClassVar[str] = "inaturalist"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        # `train.json` and `val.json` (2021) may belong to any data set: `inaturalist:FOLDER`.
        names = _annotations(root).values()
        return len(names) == 2 and all(re.search(r"\d", name) for name in names)

    def splits(self) -> tuple[str, ...]:
        return ("train", "val", "train-published", "val-published")

    def images(self, split: str) -> FolderSource:
        files = _annotations(self.root)
        for part in ("train", "val"):
            if part not in files:
                raise self.broken(f"there is no annotation file such as {part}2019.json")
        read = {part: self._read(files[part]) for part in ("train", "val")}
        species = sorted({one for _, ids in read.values() for one in ids})
        names = self._names(files["train"], species)
        number = {one: index for index, one in enumerate(species)}
        parts = [
            (path, number[one], part)
            for part, pairs in read.items()
            for path, one in zip(*pairs, strict=True)
        ]
        labels = np.array([label for _, label, _ in parts], dtype=np.int64)
        published = np.array([part for _, _, part in parts])
        rows = np.flatnonzero(published == split.removesuffix("-published"))
        if not split.endswith("-published"):
            train = np.flatnonzero(published == "train")
            moved = train[moved_to_validation(labels[train])]
            rows = np.setdiff1d(rows, moved) if split == "train" else np.union1d(rows, moved)
        paths = [parts[row][0] for row in rows]
        return FolderSource(self.root, paths, names, labels[rows])

    def _read(self, name: str) -> tuple[list[str], list[int]]:
        """Paths of the images and the ids of their species, in the order of the paths."""
        content = self.read_json(name)
        try:
            species = {one["image_id"]: one["category_id"] for one in content["annotations"]}
            pairs = sorted((one["file_name"], species[one["id"]]) for one in content["images"])
        except (KeyError, TypeError) as error:
            raise self.broken(f"{name} has no {error} for an image") from None
        return [path for path, _ in pairs], [one for _, one in pairs]

    def _names(self, name: str, species: Sequence[int]) -> tuple[str, ...]:
        """The names of species, or their ids where they have no names of their own."""
        known = {one["id"]: str(one["name"]) for one in self.read_json(name).get("categories", ())}
        names = tuple(known.get(one, str(one)) for one in species)
        return names if len(set(names)) == len(names) else tuple(str(one) for one in species)


def moved_to_validation(labels: IndexArray) -> IndexArray:
    """The rows that are moved: a tenth of each species, rounded, chosen by a fixed seed; sorted."""
    chosen = []
    for one in np.unique(labels):
        rows = np.flatnonzero(labels == one)
        order = generator("inaturalist", _SEED, int(one)).permutation(len(rows))
        chosen.append(rows[order[: round(MOVED * len(rows))]])
    return np.sort(np.concatenate(chosen))


def _annotations(root: Path) -> dict[str, str]:
    """The names of the annotation files in a folder, by split; the latest year counts."""
    try:
        names = sorted(path.name for path in root.glob("*.json"))
    except OSError:
        return {}
    found = {}
    for name in names:
        match = _FILE.fullmatch(name)
        if match is not None:
            found[match[1]] = name
    return found
