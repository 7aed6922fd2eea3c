"""PASCAL VOC: `VOCdevkit` with one or several years, or the folder of one year."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from unshortcut.data.annotated import AnnotatedSource, size_if_readable
from unshortcut.data.annotated_layout import SEGMENTATION, AnnotatedLayout
from unshortcut.data.boxes import BoxReader, Size
from unshortcut.data.class_ids import ClassIds, read_class_ids
from unshortcut.data.masks import MaskFiles
from unshortcut.data.regions import MultiLabels

CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa"),
    *("train", "tvmonitor"),
)
_MASKS = ("SegmentationClass", "SegmentationClassAug")
_SHOWN = {"1": 1, "0": -1, "-1": 0}
"""Values of the lists of a class; 0 is an image in which all objects of the class are difficult."""


class _Listed(NamedTuple):
    """An image of a list: its year, '' for the folder of a single year, and its id."""

    year: str
    id: str


class VOC(AnnotatedLayout):
    """`VOC2007/`, `VOC2012/`, each with `JPEGImages/`, `Annotations/` and `ImageSets/`.

    The splits are the lists in `ImageSets/Main`: `train`, `val`, `trainval`, `test`, of all years
    that have annotations for them, and of one year as `trainval-2007`. Those of
    `ImageSets/Segmentation` are called `train-segmentation`, …, and have masks. A `classes.txt`
    replaces the 20 classes for other data in this layout.
    """

    name: ClassVar[str] = "voc"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        return any(_is_year(root / year) for year in ("", "VOC2007", "VOC2012"))

    def splits(self) -> tuple[str, ...]:
        years = self._years()
        joined, single = [], []
        for folder, ending in (("Main", ""), ("Segmentation", SEGMENTATION)):
            for split, its_years in self._lists(folder, years).items():
                joined.append(split + ending)
                single += [f"{split}{ending}-{year.removeprefix('VOC')}" for year in its_years]
        if not joined:
            raise self.broken("no list in ImageSets/Main has images with annotations")
        return (*joined, *single) if len(years) > 1 else tuple(joined)

    def images(self, split: str) -> AnnotatedSource:
        listed, folder, name = self._listed(split)
        path = self.root / "classes.txt"
        classes = read_class_ids(path).classes if path.is_file() else CLASSES
        reader = BoxReader(classes)
        kept: list[_Listed] = []
        for one in listed:
            if self._read_boxes(one, len(kept), reader):
                kept.append(one)
        if not kept:
            reason = reader.left_out[0].reason if reader.left_out else "its list is empty"
            raise self.broken(f"no image of the split {split} has an annotation: {reason}")
        boxes = reader.table(len(kept), f"{self.root}@{split}")
        shown = self._shown(kept, classes, name) if folder == "Main" else None
        source = AnnotatedSource(
            self.root,
            [self._path(one, "JPEGImages", ".jpg") for one in kept],
            boxes=boxes,
            box_classes=classes,
            multilabels=shown or boxes.presence(classes),
            left_out=reader.left_out,
        )
        if folder == "Segmentation":
            ids = ClassIds(dict(enumerate(("background", *classes))))
            source.masks = MaskFiles(self.root, [self._mask(one) for one in kept], ids.numbers)
            source.mask_classes = ids.classes
        return source

    def _years(self) -> list[str]:
        """The folders of years, the earliest first; '' if the folder itself is one."""
        if _is_year(self.root):
            return [""]
        try:
            names = sorted(one.name for one in self.root.glob("VOC20??"))
        except OSError:
            names = []
        years = [name for name in names if _is_year(self.root / name)]
        if not years:
            raise self.broken("there are no folders JPEGImages and Annotations, nor VOC2007")
        return years

    def _lists(self, folder: str, years: Sequence[str]) -> dict[str, list[str]]:
        """The years that have each split; those whose images have no annotations do not count."""
        found: dict[str, list[str]] = {}
        order = ("train", "val", "trainval", "test")
        for year in years:
            lists = (self.root / year / "ImageSets" / folder).glob("*.txt")
            # The lists of a class, such as `cat_train`, are no splits.
            names = [path.stem for path in lists if "_" not in path.stem]
            for name in sorted(names, key=lambda one: (one not in order, one)):
                first = next(iter(self._ids(year, folder, name)), None)
                if first and (self.root / self._path(first, "Annotations", ".xml")).is_file():
                    found.setdefault(name, []).append(year)
        known = [one for one in order if one in found]
        return {name: found[name] for name in (*known, *sorted(found.keys() - {*known}))}

    def _listed(self, split: str) -> tuple[list[_Listed], str, str]:
        """The images of a split, the folder of its lists, and their name."""
        match = re.fullmatch(rf"(.+?)({SEGMENTATION})?(?:-(20\d\d))?", split)
        assert match is not None
        name, folder = match[1], "Segmentation" if match[2] else "Main"
        years = self._lists(folder, self._years())[name]
        if match[3]:
            years = [f"VOC{match[3]}"]
        return [one for year in years for one in self._ids(year, folder, name)], folder, name

    def _ids(self, year: str, folder: str, name: str) -> list[_Listed]:
        text = self.read_text(str(Path(year, "ImageSets", folder, f"{name}.txt")))
        return [_Listed(year, line.split()[0]) for line in text.splitlines() if line.strip()]

    def _path(self, one: _Listed, folder: str, ending: str) -> str:
        return Path(one.year, folder, one.id + ending).as_posix()

    def _mask(self, one: _Listed) -> str:
        paths = [self._path(one, folder, ".png") for folder in _MASKS]
        return next((path for path in paths if (self.root / path).is_file()), paths[0])

    def _read_boxes(self, one: _Listed, index: int, reader: BoxReader) -> bool:
        """Read the annotation of an image; False, with the reason listed, if that fails."""
        identity = self._path(one, "JPEGImages", ".jpg")
        path = self._path(one, "Annotations", ".xml")
        try:
            content = ElementTree.fromstring((self.root / path).read_bytes())
        except (OSError, ElementTree.ParseError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            reader.leave_out(identity, f"its annotation {path} cannot be read: {reason}")
            return False
        size = _stated_size(content) or size_if_readable(self.root / identity)
        for item in content.iterfind("object"):
            name = (item.findtext("name") or "").strip()
            sides = [item.findtext(f"bndbox/{side}", "") for side in _SIDES]
            ignored = item.findtext("difficult", "0").strip() == "1"
            reader.add(index, identity, name, _from_one_based(sides), size, ignored=ignored)
        return True

    def _shown(
        self, listed: Sequence[_Listed], classes: tuple[str, ...], name: str
    ) -> MultiLabels | None:
        """What the lists of each class say; None if one is missing."""
        values = np.full((len(listed), len(classes)), -1, dtype=np.int8)
        rows = {one: row for row, one in enumerate(listed)}
        for column, label in enumerate(classes):
            for year in {one.year for one in listed}:
                path = Path(year, "ImageSets", "Main", f"{label}_{name}.txt")
                if not (self.root / path).is_file():
                    return None
                for line in self.read_text(str(path)).splitlines():
                    words = line.split()
                    if len(words) == 2 and words[1] in _SHOWN:
                        row = rows.get(_Listed(year, words[0]))
                        if row is not None:
                            values[row, column] = _SHOWN[words[1]]
                    elif words:
                        raise self.broken(f"{path} must have an image and 1, 0 or -1 in each line")
        return MultiLabels(classes, values)


_SIDES = ("xmin", "ymin", "xmax", "ymax")


def _from_one_based(sides: Sequence[str]) -> list[str | float]:
    """Pixels count from 1, and the last one is inside the box."""
    try:
        return [float(sides[0]) - 1, float(sides[1]) - 1, float(sides[2]), float(sides[3])]
    except ValueError:
        return list(sides)


def _stated_size(content: ElementTree.Element) -> Size | None:
    """Height and width in an annotation; some tools write 0."""
    try:
        height, width = (int(content.findtext(f"size/{side}", "0")) for side in ("height", "width"))
    except ValueError:
        return None
    return (height, width) if height > 0 and width > 0 else None


def _is_year(root: Path) -> bool:
    folders = ("JPEGImages", "Annotations", "ImageSets")
    return all((root / folder).is_dir() for folder in folders)
