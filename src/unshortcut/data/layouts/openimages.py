"""Open Images: boxes and labels of images in CSV files of millions of rows."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import numpy as np

from unshortcut.data.annotated import AnnotatedSource
from unshortcut.data.annotated_layout import AnnotatedLayout
from unshortcut.data.boxes import BoxReader
from unshortcut.data.folder import image_paths
from unshortcut.data.mask_folder import without_extension
from unshortcut.data.regions import MultiLabels
from unshortcut.data.split_folders import by_split
from unshortcut.data.tables import header, read_columns
from unshortcut.errors import UsageError

_BOXES = re.compile(r"(?:oidv\d+-)?(train|validation|test)-annotations-bbox\.csv")
_LABELS = "*{split}-annotations-human-imagelabels*.csv"
_CLASSES = "*class-descriptions*.csv"
_CONFIDENCE = {"1": 1, "1.0": 1, "0": 0, "0.0": 0}
"""What people say of a class in an image; other values are estimates of machines."""
_COLUMNS = ("ImageID", "LabelName", "XMin", "YMin", "XMax", "YMax", "IsGroupOf")


class OpenImages(AnnotatedLayout):
    """`train/`, `validation/`, `test/` (or in `images/`), with the CSV files as they are published
    beside them or in `annotations/`: `…-annotations-bbox.csv`, `…class-descriptions-boxable.csv`
    and, if there are, `…-annotations-human-imagelabels-boxable.csv`.

    The images are those on the disk, which may be a part of the published ones. Boxes of groups are
    ignored. With image-level labels, a class is shown or not as people have verified, and unknown
    if they have not; without them, an image shows the classes of its boxes.
    """

    name: ClassVar[str] = "openimages"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        names = (
            f"{one}-annotations-bbox.csv" for one in ("train", "oidv6-train", "validation", "test")
        )
        return any((root / at / name).is_file() for name in names for at in ("", "annotations"))

    def splits(self) -> tuple[str, ...]:
        return tuple(self._files())

    def images(self, split: str) -> AnnotatedSource:
        published, path = self._files()[split]
        names = self._names(published)
        rows = {without_extension(Path(name).name): row for row, name in enumerate(names)}
        classes = self._classes()
        reader = BoxReader(tuple(dict.fromkeys(classes.values())), relative=True)
        for line, values in read_columns(path, _COLUMNS):
            if not values:
                reader.leave_out(f"{path.name} line {line}", "the row is cut off")
                continue
            row = rows.get(values[0])
            if row is not None:
                name, group = classes.get(values[1], values[1]), values[6] == "1"
                reader.add(row, names[row], name, values[2:6], ignored=group)
        boxes = reader.table(len(names), str(path))
        shown = boxes.presence(reader.classes)
        verified = list(_tables(self.root, _LABELS.format(split=published)))
        if verified:
            shown = _verified(verified[0], rows, classes, shown)
        return AnnotatedSource(
            self.root,
            names,
            boxes=boxes,
            box_classes=reader.classes,
            multilabels=shown,
            left_out=reader.left_out,
        )

    def _files(self) -> dict[str, tuple[str, Path]]:
        """The published name and the file of boxes of each split."""
        found = {}
        for path in _tables(self.root, "*-annotations-bbox.csv"):
            match = _BOXES.fullmatch(path.name)
            if match is not None:
                found[match[1]] = path
        if not found:
            raise self.broken("there is no file such as validation-annotations-bbox.csv")
        return {split: (name, found[name]) for split, name in by_split(found).items()}

    def _names(self, split: str) -> list[str]:
        """The images of a split on the disk; training images may be in `train_0/` to `train_f/`."""
        for folder in ("", "images/"):
            parts = sorted(
                folder + path.name
                for path in (self.root / folder).glob(f"{split}*")
                if path.is_dir() and re.fullmatch(rf"{split}(_[0-9a-f])?", path.name)
            )
            names = [f"{one}/{name}" for one in parts for name in image_paths(self.root / one)]
            if names:
                return names
        raise self.broken(f"there are no images in {split}/")

    def _classes(self) -> dict[str, str]:
        """Names such as `Apple` by ids such as `/m/014j1m`."""
        paths = list(_tables(self.root, _CLASSES))
        if not paths:
            raise self.broken("there is no file class-descriptions-boxable.csv")
        path = min(paths, key=lambda one: ("boxable" not in one.name, one.name))
        first = header(path)  # older releases have no header
        if len(first) < 2:
            raise UsageError(f"{path} must have two columns: the id of a class and its name")
        start = [] if first[0] == "LabelName" else [(first[0], first[1])]
        rows = (values for _, values in read_columns(path, first[:2]) if values)
        found = dict([*start, *((values[0], values[1]) for values in rows)])
        names = [*found.values()]
        # A few names are those of two classes.
        return {
            one: name if names.count(name) == 1 else f"{name} ({one})"
            for one, name in found.items()
        }


def _verified(
    path: Path, rows: dict[str, int], classes: dict[str, str], boxed: MultiLabels
) -> MultiLabels:
    """What people have verified, and the classes of boxes, which are verified too."""
    values = np.where(boxed.values == 1, boxed.values, np.int8(-1))
    numbers = {one: boxed.classes.index(name) for one, name in classes.items()}
    for _, cells in read_columns(path, ("ImageID", "LabelName", "Confidence")):
        row = rows.get(cells[0]) if cells else None
        number = numbers.get(cells[1]) if cells else None
        verified = _CONFIDENCE.get(cells[2]) if cells else None
        if row is not None and number is not None and verified is not None:
            values[row, number] = max(verified, values[row, number])
    return MultiLabels(boxed.classes, values)


def _tables(root: Path, pattern: str) -> Iterable[Path]:
    return sorted([*root.glob(pattern), *(root / "annotations").glob(pattern)])
