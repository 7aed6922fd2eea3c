"""COCO: boxes in `instances_*.json`, and masks of things and stuff in a folder, if there is one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from unshortcut.data.annotated import AnnotatedSource, size_if_readable
from unshortcut.data.annotated_layout import SEGMENTATION, AnnotatedLayout
from unshortcut.data.boxes import BoxReader, Size
from unshortcut.data.class_ids import ClassIds, read_class_ids
from unshortcut.data.mask_folder import MaskFolder
from unshortcut.data.split_folders import EVERYTHING, by_split

_STUFF_IDS = 182
"""Values of `stuffthingmaps`: the id of a category minus 1; 255 is unlabeled."""
_NAMES = ("classes-masks.yaml", "classes-masks.txt", "labels.txt")


class COCO(AnnotatedLayout):
    """`annotations/instances_train2017.json`, …, with the images in `train2017/`, in
    `images/train2017/` or in `images/`; or one JSON file beside the images, or in each of `train/`,
    `valid/`, ….

    Masks are in `stuffthingmaps/train2017/` or in `masks/train2017/`. `train` has them only if
    every image has one; `train-segmentation` contains the images that have one.
    """

    name: ClassVar[str] = "coco"

    @classmethod
    def recognizes(cls, root: Path) -> bool:
        return any((root / "annotations").glob("instances_*.json"))

    def splits(self) -> tuple[str, ...]:
        files = self._files()
        masked = [split for split, name in files.items() if self._mask_folder(name) is not None]
        return (*files, *(split + SEGMENTATION for split in masked))

    def images(self, split: str) -> AnnotatedSource:
        path = self._files()[split.removesuffix(SEGMENTATION)]
        content = self.read_json(path, _without_polygons)
        folder = self._image_folder(path)
        source = self._read(content, path, folder)
        masks = self._masks(path, content)
        return self.with_masks(source, split, masks, folder)

    def _files(self) -> dict[str, str]:
        """The JSON files by split, as paths below the folder."""
        prefix = "annotations/instances_"
        found = sorted((self.root / "annotations").glob("instances_*.json"))
        names = {path.name.removeprefix("instances_").removesuffix(".json") for path in found}
        if names:
            known = by_split(names)
            others = sorted(names - set(known.values()))
            return {split: f"{prefix}{name}.json" for split, name in known.items()} | {
                name: f"{prefix}{name}.json" for name in others
            }
        beside = {path.parent.name: path for path in self.root.glob("*/*.json")}
        paths = {split: beside[name] for split, name in by_split(beside).items()}
        single = list(self.root.glob("*.json"))
        if not paths and len(single) == 1:
            paths = {EVERYTHING: single[0]}
        if not paths:
            raise self.broken(
                "there is no file annotations/instances_*.json, nor one JSON file beside the images"
            )
        return {split: path.relative_to(self.root).as_posix() for split, path in paths.items()}

    def _image_folder(self, path: str) -> str:
        """The folder of the images that a JSON file lists, below the root."""
        if not path.startswith("annotations/"):
            beside = Path(path).parent.as_posix()
            return "" if beside == "." else beside
        name = _part(path)
        places = (name, f"images/{name}", f"images/{name.rstrip('0123456789')}", "images")
        return next((place for place in places if (self.root / place).is_dir()), "")

    def _mask_folder(self, path: str) -> Path | None:
        name = _part(path)
        places = [
            self.root / folder / part
            for folder in ("stuffthingmaps", "masks")
            for part in (name, name.rstrip("0123456789"))
        ]
        return next((place for place in places if place.is_dir()), None)

    def _masks(self, path: str, content: Any) -> MaskFolder | None:
        folder = self._mask_folder(path)
        if folder is None:
            return None
        for name in _NAMES:
            if (self.root / name).is_file():
                return MaskFolder(folder, read_class_ids(self.root / name))
        categories = self._categories(content, path)
        if (self.root / "stuffthingmaps") in (folder, folder.parent):
            names = {one: categories.get(one + 1, str(one)) for one in range(_STUFF_IDS)}
            return MaskFolder(folder, ClassIds(names))
        return MaskFolder(folder, ClassIds({0: "background", **categories}))

    def _categories(self, content: Any, path: str) -> Mapping[int, str]:
        """The names of the categories by id, in the order of the ids."""
        try:
            found = sorted((int(one["id"]), str(one["name"])) for one in content["categories"])
        except (KeyError, TypeError, ValueError):
            raise self.broken(f"{path} does not list its categories with id and name") from None
        names = [name for _, name in found]
        if len(set(names)) < len(names):
            raise self.broken(f"{path} has two categories of the same name")
        return dict(found)

    def _read(self, content: Any, path: str, folder: str) -> AnnotatedSource:
        """The images that a JSON file lists, sorted by name, with their boxes."""
        categories = self._categories(content, path)
        try:
            images = sorted(content["images"], key=lambda one: str(one["file_name"]))
            names = [Path(folder, one["file_name"]).as_posix() for one in images]
            rows = {one["id"]: row for row, one in enumerate(images)}
            annotations = [one for one in content["annotations"] if one["image_id"] in rows]
            lost = {one["image_id"] for one in content["annotations"]} - rows.keys()
        except (KeyError, TypeError) as error:
            raise self.broken(
                f"{path} must have images with id and file_name, and annotations with image_id; it "
                f"lacks {error}"
            ) from None
        if not names:
            raise self.broken(f"{path} lists no images")
        reader = BoxReader(tuple(categories.values()))
        sizes: dict[int, Size | None] = {}
        for number in sorted(lost, key=str):
            reader.leave_out(path, f"boxes of the image {number}, which it does not list")
        for one in annotations:
            row = rows[one["image_id"]]
            if row not in sizes:
                sizes[row] = _stated_size(images[row]) or size_if_readable(self.root / names[row])
            category = one.get("category_id")
            reader.add(
                row,
                names[row],
                categories.get(category, str(category)),
                _corners(one.get("bbox")),
                sizes[row],
                ignored=bool(one.get("iscrowd")),
            )
        boxes = reader.table(len(names), path)
        return AnnotatedSource(
            self.root,
            names,
            boxes=boxes,
            box_classes=reader.classes,
            multilabels=boxes.presence(reader.classes),
            left_out=reader.left_out,
        )


def _without_polygons(found: dict[str, Any]) -> dict[str, Any]:
    """An annotation without its polygons, which would take most of the memory."""
    found.pop("segmentation", None)
    return found


def _corners(box: Any) -> Any:
    """x, y, width, height as corners; what is not four numbers stays as it is."""
    try:
        x, y, width, height = (float(value) for value in box)
    except (TypeError, ValueError):
        return box if isinstance(box, list) else [str(box)]
    return x, y, x + width, y + height


def _stated_size(image: Mapping[str, Any]) -> Size | None:
    height, width = image.get("height"), image.get("width")
    good = isinstance(height, int) and isinstance(width, int) and height > 0 and width > 0
    return (int(height), int(width)) if good else None  # type: ignore[arg-type]


def _part(path: str) -> str:
    """`train2017` of `annotations/instances_train2017.json`; the folder of a file beside images."""
    if path.startswith("annotations/"):
        return Path(path).stem.removeprefix("instances_")
    return Path(path).parent.name
