"""Images with labels in `labels.csv` or boxes in `boxes.csv`: the layout for data of your own."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unshortcut.data import tree
from unshortcut.data.annotated import AnnotatedSource, size_if_readable
from unshortcut.data.annotated_layout import AnnotatedLayout
from unshortcut.data.boxes import BoxReader, BoxTable
from unshortcut.data.class_ids import read_class_ids
from unshortcut.data.failures import Failure
from unshortcut.data.regions import MultiLabels
from unshortcut.data.split_folders import EVERYTHING
from unshortcut.data.tables import header, read_columns
from unshortcut.errors import UsageError

LABELS, BOXES = "labels.csv", "boxes.csv"
_BOX_COLUMNS = ("image", "class", "x0", "y0", "x1", "y1")
_SHOWN = {"1": 1, "0": 0, "-1": -1, "": -1}


class CSVFiles(AnnotatedLayout):
    """`labels.csv`, `boxes.csv` or both, with paths of images below the folder or its `images/`.

    `labels.csv` has the columns `image` and `labels` (names with `;` or `|` between them, or
    nothing), or `image` and a column for each class (1 shown, 0 not, -1 unknown). `boxes.csv` has
    `image`, `class`, `x0`, `y0`, `x1`, `y1`, in pixels; an image without objects has a row with
    nothing after its path. The classes are those of `classes.txt`, or those that occur, sorted.

    The splits are the values of a column `split`, or the usual folders at the start of the paths.
    """

    name: ClassVar[str] = "csv"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        # A column for each class could belong to any data set: `csv:FOLDER`.
        wanted = {LABELS: {"image", "labels"}, BOXES: {*_BOX_COLUMNS}}
        return any(columns <= _columns(root / name) for name, columns in wanted.items())

    def splits(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(sorted(self._images().values(), key=_rank)))

    def images(self, split: str) -> AnnotatedSource:
        every = self._images()
        paths = [path for path, its_split in every.items() if its_split == split]
        rows = {path: row for row, path in enumerate(paths)}
        folder = "" if (self.root / paths[0]).exists() else "images/"
        names = [folder + path for path in paths]
        left_out: list[Failure] = []
        boxes, box_classes, shown = None, None, None
        if (self.root / BOXES).is_file():
            boxes, box_classes = self._boxes(rows, names, left_out)
        if (self.root / LABELS).is_file():
            shown = self._labels(rows, names, left_out)
        elif boxes is not None and box_classes is not None:
            shown = boxes.presence(box_classes)
        return AnnotatedSource(
            self.root,
            names,
            boxes=boxes,
            box_classes=box_classes,
            multilabels=shown,
            left_out=left_out,
        )

    def _images(self) -> dict[str, str]:
        """The images that the files list, with the split of each."""
        found: dict[str, str] = {}
        stated = False
        for path in (self.root / LABELS, self.root / BOXES):
            if path.is_file():
                has_split = "split" in header(path)
                stated |= has_split
                for _, values in read_columns(
                    path, ("image", "split") if has_split else ("image",)
                ):
                    if values and values[0]:
                        found.setdefault(values[0], values[1] if has_split else "")
        if not found:
            raise self.broken(f"there is no file {LABELS} or {BOXES} that lists images")
        if stated:
            return found
        folders = tree.split_names(list(found))
        return {
            path: next((one for one in folders if path.startswith(f"{one}/")), EVERYTHING)
            for path in found
        }

    def _classes(self, occurring: set[str]) -> tuple[str, ...]:
        path = self.root / "classes.txt"
        return read_class_ids(path).classes if path.is_file() else tuple(sorted(occurring))

    def _boxes(
        self, rows: dict[str, int], names: list[str], left_out: list[Failure]
    ) -> tuple[BoxTable, tuple[str, ...]]:
        path = self.root / BOXES
        # A class that is itself cut off occurs in no whole row.
        occurring = {values[1] for _, values in read_columns(path, _BOX_COLUMNS) if values}
        reader = BoxReader(self._classes(occurring - {""}))
        sizes = {}
        for line, values in read_columns(path, _BOX_COLUMNS):
            if not values:
                reader.leave_out(f"{BOXES} line {line}", "the row is cut off")
                continue
            row = rows.get(values[0])
            if row is None or not any(values[1:]):
                continue
            if row not in sizes:
                sizes[row] = size_if_readable(self.root / names[row])
            reader.add(row, names[row], values[1], values[2:], sizes[row])
        left_out += reader.left_out
        return reader.table(len(names), str(path)), reader.classes

    def _labels(
        self, rows: dict[str, int], names: list[str], left_out: list[Failure]
    ) -> MultiLabels:
        path = self.root / LABELS
        columns = header(path)
        if "labels" in columns:
            return self._listed(path, rows, names, left_out)
        classes = tuple(name for name in columns if name not in ("image", "split"))
        if not classes:
            raise self.broken(f"{LABELS} has neither a column 'labels' nor one for each class")
        values = _unknown(len(names), len(classes))
        for line, (image, *cells) in _whole(path, ("image", *classes), left_out):
            if image not in rows:
                continue
            wrong = next((cell for cell in cells if cell.strip() not in _SHOWN), None)
            if wrong is not None:
                reason = f"line {line} of {LABELS} has '{wrong}', which is not 1, 0 or -1"
                left_out.append(Failure(names[rows[image]], reason))
                continue
            values[rows[image]] = [_SHOWN[cell.strip()] for cell in cells]
        return MultiLabels(classes, values)

    def _listed(
        self, path: Path, rows: dict[str, int], names: list[str], left_out: list[Failure]
    ) -> MultiLabels:
        """Labels in one column; a class that `classes.txt` lacks is left out and listed."""
        columns = ("image", "labels")
        occurring = {
            name
            for _, values in read_columns(path, columns)
            if values
            for name in _names(values[1])
        }
        classes = self._classes(occurring)
        numbers = {name: number for number, name in enumerate(classes)}
        values = _unknown(len(names), len(classes))
        for _, (image, text) in _whole(path, columns, left_out):
            if image not in rows:
                continue
            row = values[rows[image]]
            row[row < 0] = 0
            for name in _names(text):
                if name in numbers:
                    row[numbers[name]] = 1
                else:
                    left_out.append(Failure(names[rows[image]], f"the unknown class '{name}'"))
        return MultiLabels(classes, values)


def _columns(path: Path) -> set[str]:
    """The columns of a file; none if there is no such file, or if it cannot be read."""
    try:
        return {*header(path)} if path.is_file() else set()
    except UsageError:
        return set()


def _names(text: str) -> list[str]:
    """The names in a cell, with ; or | between them."""
    return [name.strip() for name in text.replace("|", ";").split(";") if name.strip()]


def _unknown(images: int, classes: int) -> NDArray[np.int8]:
    """For images that only `boxes.csv` lists."""
    return np.full((images, classes), -1, dtype=np.int8)


def _whole(
    path: Path, columns: tuple[str, ...], left_out: list[Failure]
) -> list[tuple[int, tuple[str, ...]]]:
    """The rows that are not cut off; the others are listed."""
    rows = list(read_columns(path, columns))
    for line, values in rows:
        if not values:
            left_out.append(Failure(f"{path.name} line {line}", "the row is cut off"))
    return [(line, values) for line, values in rows if values]


def _rank(split: str) -> tuple[int, str]:
    order = ("train", "val", "test")
    return (order.index(split) if split in order else len(order)), split
