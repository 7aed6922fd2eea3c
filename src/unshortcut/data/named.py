"""Data sets by name: the built-in `shapes`, and those of torchvision, downloaded once."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.data.folder import FolderSource
from unshortcut.data.shapes import SPLITS as SHAPES_SPLITS
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage, Classes, ImageSource, Labels
from unshortcut.errors import RunError, UsageError, unknown
from unshortcut.files import cache_folder

SHAPES = ("shapes", "shapes-palette")


class ArraySource(ImageSource):
    """Images in memory, uint8 (N, h, w, 3), or (N, h, w) if gray."""

    def __init__(
        self, name: str, images: ImageArray, classes: Classes = None, labels: Labels = None
    ) -> None:
        self.name = name
        self.images = images
        self.classes = classes
        self.labels = labels

    def __len__(self) -> int:
        return len(self.images)

    def image(self, index: int) -> ArrayImage:
        array = self.images[index]
        if array.ndim == 2:
            array = np.repeat(array[:, :, None], 3, axis=2)
        return ArrayImage(np.ascontiguousarray(array))

    def identity(self, index: int) -> str:
        return f"{self.name}/{index}"

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.name.encode())
        digest.update(repr(self.images.shape).encode())
        digest.update(np.ascontiguousarray(self.images).data)
        if self.labels is not None:
            digest.update(self.labels.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class _Named:
    """A data set of torchvision: its class, the arguments of each split, and how it is read."""

    class_name: str
    splits: Mapping[str, Mapping[str, Any]]
    read: Callable[[str, Any], ImageSource]


def _read_arrays(labels: str, name: str, dataset: Any) -> ArraySource:
    """For a data set with pixels in `data` and labels in the given attribute."""
    images = np.asarray(dataset.data)
    if images.ndim == 4 and images.shape[1] == 3:
        images = images.transpose(0, 2, 3, 1)
    numbers = np.asarray(getattr(dataset, labels), dtype=np.int64)
    if (numbers < 0).any():  # STL-10's unlabeled images have -1
        return ArraySource(name, images)
    return ArraySource(name, images, _class_names(dataset, numbers), numbers)


def _read_files(paths: str, name: str, dataset: Any) -> FolderSource:
    """For a data set of files with paths in the given attribute and labels in `_labels`."""
    return _file_source(dataset, getattr(dataset, paths), dataset._labels)


def _read_imagenette(name: str, dataset: Any) -> FolderSource:
    paths, labels = zip(*dataset._samples, strict=True)
    return _file_source(dataset, paths, labels)


def _file_source(dataset: Any, paths: Sequence[Any], labels: Sequence[int]) -> FolderSource:
    root = Path(dataset.root)
    numbers = np.asarray(labels, dtype=np.int64)
    names = [os.path.relpath(path, root) for path in paths]
    return FolderSource(root, names, _class_names(dataset, numbers), numbers)


def _class_names(dataset: Any, labels: IndexArray) -> tuple[str, ...]:
    names = getattr(dataset, "classes", None) or range(int(labels.max()) + 1)
    # Imagenette gives each class as a tuple of synonyms.
    return tuple(str(name[0] if isinstance(name, tuple) else name) for name in names)


_FILES = partial(_read_files, "_image_files")
_TARGETS, _LABELS = partial(_read_arrays, "targets"), partial(_read_arrays, "labels")
_TRAIN_TEST = {"train": {"train": True}, "test": {"train": False}}


def _by_split(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"split": name} for name in names}


def _imagenette_of(size: str) -> _Named:
    splits = {name: {"split": name, "size": size} for name in ("train", "val")}
    return _Named("Imagenette", splits, _read_imagenette)


_TORCHVISION: dict[str, _Named] = {
    "cifar10": _Named("CIFAR10", _TRAIN_TEST, _TARGETS),
    "cifar100": _Named("CIFAR100", _TRAIN_TEST, _TARGETS),
    "mnist": _Named("MNIST", _TRAIN_TEST, _TARGETS),
    "fashion-mnist": _Named("FashionMNIST", _TRAIN_TEST, _TARGETS),
    "stl10": _Named("STL10", _by_split("train", "test", "unlabeled", "train+unlabeled"), _LABELS),
    "svhn": _Named("SVHN", _by_split("train", "test", "extra"), _LABELS),
    "imagenette": _imagenette_of("full"),
    "imagenette-320": _imagenette_of("320px"),
    "imagenette-160": _imagenette_of("160px"),
    "flowers102": _Named("Flowers102", _by_split("train", "val", "test"), _FILES),
    "food101": _Named("Food101", _by_split("train", "test"), _FILES),
    "dtd": _Named("DTD", _by_split("train", "val", "test"), _FILES),
    "aircraft": _Named(
        "FGVCAircraft", {"train": {"split": "trainval"}, "test": {"split": "test"}}, _FILES
    ),
    "pets": _Named(
        "OxfordIIITPet",
        {"train": {"split": "trainval"}, "test": {"split": "test"}},
        partial(_read_files, "_images"),
    ),
}

NAMES: tuple[str, ...] = (*SHAPES, *_TORCHVISION)


def named_splits(name: str) -> tuple[str, ...]:
    """The splits of a named data set."""
    return tuple(SHAPES_SPLITS) if name in SHAPES else tuple(_TORCHVISION[name].splits)


def open_named(name: str, split: str | None, options: Mapping[str, Any]) -> ImageSource:
    """Open a named data set; `options` are those of `Shapes`. Raises `RunError` if offline."""
    split = split or "train"
    if split not in named_splits(name):
        raise unknown(f"split of {name}", split, named_splits(name))
    if name in SHAPES:
        return Shapes(split, **{"palette": name == "shapes-palette", **options})
    if options:
        raise UsageError(f"{name} takes no options, but got {', '.join(sorted(options))}")
    entry = _TORCHVISION[name]
    return entry.read(f"{name}/{split}", _load(name, entry.class_name, entry.splits[split]))


def needs_download(name: str, split: str | None = None) -> bool:
    """Whether opening a named data set would download it first."""
    if name in SHAPES:
        return False
    entry = _TORCHVISION[name]
    return _load_stored(entry.class_name, entry.splits.get(split or "train", {})) is None


def _load_stored(class_name: str, arguments: Mapping[str, Any]) -> Any:
    """A data set of torchvision in the cache folder; None if it is missing or incomplete."""
    import torchvision  # takes seconds

    root = str(cache_folder() / "datasets")
    try:
        return getattr(torchvision.datasets, class_name)(root, download=False, **arguments)
    except (RuntimeError, OSError):
        return None


def _load(name: str, class_name: str, arguments: Mapping[str, Any]) -> Any:
    if (stored := _load_stored(class_name, arguments)) is not None:
        return stored
    import torchvision

    create = getattr(torchvision.datasets, class_name)
    root = cache_folder() / "datasets"
    try:
        root.mkdir(parents=True, exist_ok=True)
        return create(str(root), download=True, **arguments)
    except (RuntimeError, OSError) as error:
        raise RunError(
            f"the data set {name} is not in the cache folder and could not be downloaded "
            f"({' '.join(str(error).split()) or type(error).__name__}); "
            "give a folder or a tar file with it instead"
        ) from None
