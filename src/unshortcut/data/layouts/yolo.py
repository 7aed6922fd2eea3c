"""Folders as YOLO reads them: a text file of boxes for each image."""

from pathlib import Path
from typing import ClassVar, NamedTuple

from unshortcut.data.annotated import AnnotatedSource
from unshortcut.data.annotated_layout import SEGMENTATION, AnnotatedLayout
from unshortcut.data.boxes import BoxReader
from unshortcut.data.class_ids import ClassIds, read_class_ids
from unshortcut.data.folder import image_paths
from unshortcut.data.mask_folder import MaskFolder, without_extension
from unshortcut.data.split_folders import split_folders

_BOX_NAMES = ("data.yaml", "dataset.yaml", "classes-boxes.yaml", "classes.yaml", "classes.txt")
_MASK_NAMES = ("classes-masks.yaml", "classes-masks.txt")


class _Place(NamedTuple):
    """The folders of a split, as paths below the root."""

    images: str
    labels: str
    masks: str


class YOLO(AnnotatedLayout):
    """`images/train/`, `labels/train/`, …, or `train/images/`, `train/labels/`, …, and the names of
    the classes in `data.yaml`, another YAML file with `names`, or `classes.txt`.

    A line of a label file is `class x y width height`, the center and size of a box in units of the
    image, or a class and a polygon. An image without a label file shows no object. With masks in
    `masks/train/` and their classes in `classes-masks.yaml`, `train` has masks if every image has
    one, and `train-segmentation` contains the images that have one.
    """

    name: ClassVar[str] = "yolo"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        places = ((root, "images", "labels"), (root / "train", "images", "labels"))
        found = any((at / one).is_dir() and (at / two).is_dir() for at, one, two in places)
        return found and (any(root.glob("*.yaml")) or (root / "classes.txt").is_file())

    def splits(self) -> tuple[str, ...]:
        places = self._places()
        masked = [split for split, place in places.items() if self._masks(place) is not None]
        return (*places, *(split + SEGMENTATION for split in masked))

    def images(self, split: str) -> AnnotatedSource:
        place = self._places()[split.removesuffix(SEGMENTATION)]
        return self.with_masks(self._read(place), split, self._masks(place), place.images)

    def _places(self) -> dict[str, _Place]:
        if (self.root / "images").is_dir():
            return {
                split: _Place(*(f"{one}/{folder}".rstrip("/") for one in _Place._fields))
                for split, folder in split_folders(self.root / "images").items()
            }
        found = {
            split: _Place(*(f"{folder}/{one}" for one in _Place._fields))
            for split, folder in split_folders(self.root).items()
            if folder and (self.root / folder / "images").is_dir()
        }
        if not found:
            raise self.broken("there is no folder images/, nor train/images/")
        return found

    def _class_names(self) -> ClassIds:
        others = sorted(path.name for path in self.root.glob("*.yaml"))
        for name in dict.fromkeys((*_BOX_NAMES, *others)):
            path = self.root / name
            if name not in _MASK_NAMES and path.is_file():
                return read_class_ids(path)
        raise self.broken("there is no data.yaml with the names of the classes")

    def _masks(self, place: _Place) -> MaskFolder | None:
        folder = self.root / place.masks
        for name in _MASK_NAMES:
            if folder.is_dir() and (self.root / name).is_file():
                return MaskFolder(folder, read_class_ids(self.root / name))
        return None

    def _read(self, place: _Place) -> AnnotatedSource:
        ids = self._class_names()
        reader = BoxReader(tuple(ids.names[one] for one in sorted(ids.names)), relative=True)
        files = image_paths(self.root / place.images)
        names: list[str] = []
        for file in files:
            identity = f"{place.images}/{file}"
            path = self.root / place.labels / f"{without_extension(file)}.txt"
            try:
                lines = _lines(path)
            except (OSError, UnicodeDecodeError) as error:
                reader.leave_out(identity, f"its labels cannot be read: {error}")
                continue
            for number, words in lines:
                box = _corners(words[1:])
                if box is None:
                    reason = f"line {number} of its labels is not 'class x y width height'"
                    reader.leave_out(identity, reason)
                    continue
                name = ids.names.get(int(words[0]) if words[0].isdecimal() else -1, words[0])
                reader.add(len(names), identity, name, box)
            names.append(identity)
        if not names:
            raise self.broken(f"there are no images in {place.images}/")
        boxes = reader.table(len(names), f"{self.root / place.labels}")
        return AnnotatedSource(
            self.root,
            names,
            boxes=boxes,
            box_classes=reader.classes,
            multilabels=boxes.presence(reader.classes),
            left_out=reader.left_out,
        )


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The words of each line of a label file, with its number; nothing if there is no file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]


def _corners(words: list[str]) -> tuple[float, float, float, float] | None:
    """Corners of a box from its center and size, or of the box around a polygon."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        return None
    if len(values) == 4:
        x, y, width, height = values
        return x - width / 2, y - height / 2, x + width / 2, y + height / 2
    if len(values) >= 6 and len(values) % 2 == 0:
        return min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])
    return None
