"""Data sets by name: the built-in `shapes`, and those of torchvision, downloaded once."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.folder import FolderSource
from unshortcut.data.shapes import SPLITS as SHAPES_SPLITS
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage, ImageSource
from unshortcut.errors import RunError, UsageError, unknown
from unshortcut.files import cache_folder

SHAPES = ("shapes", "shapes-palette")


class ArraySource(ImageSource):
    """Images in memory, uint8 (N, h, w, 3), or (N, h, w) if gray."""

    def __init__(
        self,
        name: str,
        images: ImageArray,
        classes: tuple[str, ...] | None,
        labels: NDArray[np.int64] | None,
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


Reader = Callable[[str, Any], ImageSource]


@dataclass(frozen=True)
class _Named:
    """A data set of torchvision: its class, the arguments of each split, and how it is read."""

    class_name: str
    splits: Mapping[str, Mapping[str, Any]]
    read: Reader


def _arrays(labels: str) -> Reader:
    """For a data set with pixels in `data` and labels in the given attribute."""

    def read(name: str, dataset: Any) -> ImageSource:
        images = np.asarray(dataset.data)
        if images.ndim == 4 and images.shape[1] == 3:
            images = images.transpose(0, 2, 3, 1)
        numbers = np.asarray(getattr(dataset, labels), dtype=np.int64)
        if (numbers < 0).any():  # STL-10's unlabeled images have -1
            return ArraySource(name, images, None, None)
        classes = getattr(dataset, "classes", None) or range(int(numbers.max()) + 1)
        return ArraySource(name, images, tuple(str(label) for label in classes), numbers)

    return read


def _files(paths: str) -> Reader:
    """For a data set of files with paths in the given attribute and labels in `_labels`."""

    def read(name: str, dataset: Any) -> ImageSource:
        return _file_source(dataset, getattr(dataset, paths), dataset._labels)

    return read


def _imagenette(name: str, dataset: Any) -> ImageSource:
    paths = [path for path, _ in dataset._samples]
    return _file_source(dataset, paths, [label for _, label in dataset._samples])


def _file_source(dataset: Any, paths: Sequence[Any], labels: Sequence[int]) -> FolderSource:
    root = Path(dataset.root)
    names = [os.path.relpath(path, root) for path in paths]
    numbers = np.asarray(labels, dtype=np.int64)
    classes = getattr(dataset, "classes", None) or range(int(numbers.max()) + 1)
    # Imagenette gives each class as a tuple of synonyms.
    texts = tuple(str(label[0] if isinstance(label, tuple) else label) for label in classes)
    return FolderSource(root, names, texts, numbers)


_TRAIN_TEST = {"train": {"train": True}, "test": {"train": False}}


def _by_split(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"split": name} for name in names}


def _imagenette_of(size: str) -> _Named:
    splits = {name: {"split": name, "size": size} for name in ("train", "val")}
    return _Named("Imagenette", splits, _imagenette)


_TORCHVISION: dict[str, _Named] = {
    "cifar10": _Named("CIFAR10", _TRAIN_TEST, _arrays("targets")),
    "cifar100": _Named("CIFAR100", _TRAIN_TEST, _arrays("targets")),
    "mnist": _Named("MNIST", _TRAIN_TEST, _arrays("targets")),
    "fashion-mnist": _Named("FashionMNIST", _TRAIN_TEST, _arrays("targets")),
    "stl10": _Named(
        "STL10", _by_split("train", "test", "unlabeled", "train+unlabeled"), _arrays("labels")
    ),
    "svhn": _Named("SVHN", _by_split("train", "test", "extra"), _arrays("labels")),
    "imagenette": _imagenette_of("full"),
    "imagenette-320": _imagenette_of("320px"),
    "imagenette-160": _imagenette_of("160px"),
    "flowers102": _Named("Flowers102", _by_split("train", "val", "test"), _files("_image_files")),
    "food101": _Named("Food101", _by_split("train", "test"), _files("_image_files")),
    "dtd": _Named("DTD", _by_split("train", "val", "test"), _files("_image_files")),
    "pets": _Named(
        "OxfordIIITPet",
        {"train": {"split": "trainval"}, "test": {"split": "test"}},
        _files("_images"),
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


def _load(name: str, class_name: str, arguments: Mapping[str, Any]) -> Any:
    import torchvision  # takes seconds

    create = getattr(torchvision.datasets, class_name)
    root = cache_folder() / "datasets"
    try:
        return create(str(root), download=False, **arguments)
    except (RuntimeError, OSError):
        pass  # missing or incomplete
    try:
        root.mkdir(parents=True, exist_ok=True)
        return create(str(root), download=True, **arguments)
    except (RuntimeError, OSError) as error:
        raise RunError(
            f"the data set {name} is not in the cache folder and could not be downloaded "
            f"({' '.join(str(error).split()) or type(error).__name__}); "
            "give a folder or a tar file with it instead"
        ) from None
