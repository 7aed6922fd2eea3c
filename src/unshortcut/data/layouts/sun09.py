"""SUN09: scenes with labeled objects, and 42 in which an object is out of context (Choi et al.).

The dissertation (chapter 1) finds out-of-context objects in it without training. Images and their
annotations are those of `sun09.tar`; the split into 4,367 training and 4,317 test scenes is in
`sun09_groundTruth.mat`, which is published beside it.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from unshortcut.data.folder import FolderSource, image_paths
from unshortcut.data.layout import Layout
from unshortcut.errors import UsageError

FOLDERS = {
    "all": "static_sun09_database",
    "out_of_context": "out_of_context",
    "objects": "static_sun_objects",
}
"""Folders of images: annotated scenes, scenes with an object out of context, single objects."""
_MAT = "sun09_groundTruth.mat"
_VARIABLES = {"train": "Dtraining", "test": "Dtest"}


@dataclass(frozen=True)
class SceneObject:
    """A labeled object of a scene."""

    name: str
    box: tuple[float, float, float, float]
    """Left, top, right and bottom of its polygon, in pixels."""


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
                name_ = (one.findtext("name") or "").strip()
                found.append(SceneObject(name_, (min(xs), min(ys), max(xs), max(ys))))
        return tuple(found)


class Sun09(Layout):
    """`Images/` and `Annotations/`, each with `static_sun09_database/`, `static_sun_objects/` and
    `out_of_context/`.

    Splits: `train` and `test`, if `sun09_groundTruth.mat` is in the folder or in its `dataset/`;
    `all` scenes; `out_of_context`; and `objects`, images of single objects.
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
        return Sun09Source(images, names)

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
