"""SUN09: scenes with labeled objects, and 42 in which an object is out of context (Choi et al.).

The dissertation (chapter 1) finds out-of-context objects in it without training. Images and their
annotations are those of `sun09.tar`; the split into 4,367 training and 4,317 test scenes is in
`sun09_groundTruth.mat`, which is published beside it.

No public text says how the annotations mark the objects that are out of context. An object is one
if its name or its attributes say "out of context", or if `out_of_context.csv`, which the user
writes, names it.
"""

import hashlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import numpy as np

from unshortcut.data.boxes import BoxReader
from unshortcut.data.failures import Failure
from unshortcut.data.folder import FolderSource, image_paths
from unshortcut.data.layout import Layout
from unshortcut.data.regions import Regions
from unshortcut.data.tables import read_columns
from unshortcut.errors import UsageError

FOLDERS = {
    "all": "static_sun09_database",
    "out_of_context": "out_of_context",
    "objects": "static_sun_objects",
}
"""Folders of images: annotated scenes, scenes with an object out of context, single objects."""
_MAT = "sun09_groundTruth.mat"
_VARIABLES = {"train": "Dtraining", "test": "Dtest"}
_ODD = "out_of_context.csv"
_MARK = re.compile(r"[\s,;(]*\bout[ _-]?of[ _-]?context\b[\s,;)]*", re.IGNORECASE)


@dataclass(frozen=True)
class SceneObject:
    """A labeled object of a scene."""

    name: str
    box: tuple[float, float, float, float]
    """Left, top, right and bottom of its polygon, in pixels."""
    odd: bool = False
    """Whether its annotation says that it is out of context."""


class Sun09Source(FolderSource):
    """Scenes, which have no class of their own; `objects` gives what is in them."""

    def objects(self, index: int) -> tuple[SceneObject, ...]:
        """The labeled objects of a scene; raises `UsageError` if its annotation cannot be read."""
        name = PurePosixPath(self.names[index]).with_suffix(".xml")
        path = self.root.parent / "Annotations" / name
        try:
            content = ElementTree.fromstring(path.read_bytes())
        except (OSError, ElementTree.ParseError) as error:
            raise UsageError(f"the annotation {path} cannot be read: {error}") from None
        found = []
        for one in content.iter("object"):
            if (one.findtext("deleted") or "0").strip() == "1":
                continue
            points = one.findall("polygon/pt")
            xs = [float(point.findtext("x") or "nan") for point in points]
            ys = [float(point.findtext("y") or "nan") for point in points]
            if points:
                named, odd = _without_mark((one.findtext("name") or "").strip())
                odd |= _without_mark(one.findtext("attributes") or "")[1]
                found.append(SceneObject(named, (min(xs), min(ys), max(xs), max(ys)), odd))
        return tuple(found)


class OutOfContextSource(Sun09Source):
    """Scenes with the boxes of their objects, of which some are out of context.

    Args:
        odd: pairs of an image and the name of an object in it that is out of context, in addition
            to those that their annotations mark.
    """

    def __init__(self, root: Path, names: Sequence[str], odd: Collection[tuple[str, str]]) -> None:
        super().__init__(root, names)
        scenes: list[tuple[SceneObject, ...]] = []
        unread: list[Failure] = []
        for index in range(len(self)):
            try:
                scenes.append(self.objects(index))
            except UsageError as error:
                scenes.append(())
                unread.append(Failure(self.identity(index), str(error)))
        reader = BoxReader(sorted({one.name for scene in scenes for one in scene}))
        marks: list[bool] = []
        for index, scene in enumerate(scenes):
            stem = PurePosixPath(self.names[index]).stem
            for one in scene:
                if reader.add(index, self.identity(index), one.name, one.box):
                    marks.append(one.odd or (stem, one.name) in odd)
        self.box_classes = reader.classes
        self.boxes = reader.table(len(self), "Annotations/out_of_context")
        self.odd = np.array(marks, dtype=np.bool_) if any(marks) else None
        """(M,): the boxes out of context; None if nothing says which are."""
        self.left_out = (*unread, *reader.left_out)

    def regions(self, index: int) -> Regions:
        found = self.boxes.regions(index, lambda row: (0, 0))
        if self.odd is None:
            return found
        first = int(self.boxes.ends[index - 1]) if index else 0
        return replace(found, odd=self.odd[first : int(self.boxes.ends[index])].copy())

    def fingerprint(self) -> str:
        digest = hashlib.sha256(super().fingerprint().encode())
        digest.update(repr(self.box_classes).encode())
        for values in (self.boxes.ends, self.boxes.boxes, self.boxes.labels, self.odd):
            digest.update(b"" if values is None else np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()


class Sun09(Layout):
    """`Images/` and `Annotations/`, each with `static_sun09_database/`, `static_sun_objects/` and
    `out_of_context/`.

    Splits: `train` and `test`, if `sun09_groundTruth.mat` is in the folder or in its `dataset/`;
    `all` scenes; `out_of_context`; and `objects`, images of single objects. `out_of_context.csv` in
    the folder has the columns image and object.
    """

    name: ClassVar[str] = "sun09"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        return (root / "Images" / FOLDERS["all"]).is_dir()

    def splits(self) -> tuple[str, ...]:
        folders = [one for one, name in FOLDERS.items() if (self.root / "Images" / name).is_dir()]
        if not folders:
            raise self.broken(f"there is no folder Images/{FOLDERS['all']}")
        listed = ("train", "test") if self._mat() is not None and "all" in folders else ()
        return (*listed, *folders)

    def images(self, split: str) -> Sun09Source:
        images = self.root / "Images"
        if split in FOLDERS:
            folder = FOLDERS[split]
            names = [f"{folder}/{name}" for name in image_paths(images / folder)]
        else:
            names = self._listed(split)
        if not names:
            raise self.broken(f"it has no images of the split {split}")
        if split == "out_of_context":
            return OutOfContextSource(images, names, self._odd(names))
        return Sun09Source(images, names)

    def _odd(self, names: Sequence[str]) -> set[tuple[str, str]]:
        """The objects that the user's file names, by the name of their image without its ending."""
        path = self.root / _ODD
        if not path.is_file():
            return set()
        known = {PurePosixPath(name).stem for name in names}
        found = set()
        for line, row in read_columns(path, ("image", "object")):
            stem = PurePosixPath(row[0].strip()).stem if row else ""
            if stem not in known:
                raise self.broken(f"line {line} of {_ODD} names no image of out_of_context")
            found.add((stem, row[1].strip()))
        return found

    def _mat(self) -> Path | None:
        places = (self.root / _MAT, self.root / "dataset" / _MAT)
        return next((path for path in places if path.is_file()), None)

    def _listed(self, split: str) -> list[str]:
        """The images of a split that `sun09_groundTruth.mat` lists."""
        from scipy.io import loadmat  # takes a moment

        path, variable = self._mat(), _VARIABLES[split]
        try:
            content = loadmat(path, variable_names=[variable], simplify_cells=True)
            entries: Sequence[Any] = content[variable]
            return [f"{FOLDERS['all']}/{one['annotation']['filename']}" for one in entries]
        except Exception as error:  # SciPy raises many kinds for a damaged file
            raise self.broken(f"{_MAT} does not list {variable}: {error}") from None


def _without_mark(text: str) -> tuple[str, bool]:
    """A name or attributes without the words "out of context", and whether they were there."""
    plain, count = _MARK.subn(" ", text)
    return plain.strip(), count > 0
