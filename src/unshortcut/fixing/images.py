"""Which images a head is refitted on, and which ones it is tested on."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.data.naming import Data, data_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource, Subset
from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.images import half_of_each
from unshortcut.training.folder import RunFolder

_UNSEEN = ("val", "test")
"""Splits that a model is usually not fitted on, in the order in which they are used to refit."""


@dataclass(frozen=True)
class FixImages:
    """Labeled images for the two purposes, never the same."""

    refit: ImageSource
    refit_name: str
    test: ImageSource
    test_name: str
    probe: ImageSource | None = None
    """The images to fit a probe on, if the model has no head: the split train, if there is one."""
    remark: str = ""
    """What the reader should know of the choice."""

    @property
    def classes(self) -> tuple[str, ...]:
        assert self.refit.classes is not None
        return self.refit.classes


def open_fix_images(data: Data, test: Data | None, seed: int) -> FixImages:
    """Open the images to refit on and to test on.

    Without a split in `data`, the head is refitted on `val` and tested on `test`; if there is only
    one of them, on one half of each class, and tested on the other half; if there is neither, on a
    half of all images, which the model may have been fitted on. Raises `UsageError` without labels,
    and for a test set with other classes or the same images.
    """
    if isinstance(data, ImageSource):
        opened = _halved(data, data_name(data), seed) if test is None else None
        return opened or _separate(data, data_name(data), test)
    spec = DataSpec.parse(data)
    known = () if spec.split else splits(spec.where)
    unseen = [name for name in _UNSEEN if name in known]
    split = spec.split or (unseen[0] if unseen else None)
    refit = open_data(spec.where, split=split)
    name = data_name(spec.where if split is None else f"{spec.where}@{split}")
    if test is None and len(unseen) == 2:
        test = f"{spec.where}@{unseen[1]}"
    found = _separate(refit, name, test) if test is not None else _halved(refit, name, seed)
    remark = found.remark
    if not unseen and spec.split in (None, "train"):
        remark = (
            f"{remark} The data name no split that the model was not fitted on. A head errs less "
            "on images that it was fitted on, so that reweighting finds fewer of its errors there; "
            "images that it has not seen fix more."
        )
    probe = open_data(spec.where, split="train") if "train" in known else None
    return FixImages(
        found.refit, found.refit_name, found.test, found.test_name, probe, remark.strip()
    )


def was_fitted_on(model: object, images: ImageSource) -> bool:
    """Whether a run says that it was trained on just these images."""
    if not isinstance(model, str | Path):
        return False
    folder = RunFolder(Path(model))
    if not folder.metadata.is_file():
        return False
    try:
        stated = json.loads(folder.metadata.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return stated.get("data_fingerprint") == images.fingerprint()


def _separate(refit: ImageSource, name: str, test: Data | None) -> FixImages:
    assert test is not None
    tested = open_data(test)
    _check_labels(refit, name)
    _check_labels(tested, data_name(test))
    if tested.classes != refit.classes:
        raise UsageError(f"'{data_name(test)}' has other classes than '{name}'")
    if tested.fingerprint() == refit.fingerprint():
        raise UsageError(f"'{name}' cannot be used both to refit a head and to test it")
    return FixImages(refit, name, tested, data_name(test))


def _halved(source: ImageSource, name: str, seed: int) -> FixImages:
    _check_labels(source, name)
    assert source.labels is not None
    half = half_of_each(source.labels, seed)
    rest = np.setdiff1d(np.arange(len(source)), half)
    if not len(rest):
        raise UsageError(f"'{name}' has one image per class; a head needs others to be tested on")
    halves = Subset(source, half), Subset(source, rest)
    names = f"one half of {name}", f"the other half of {name}"
    return FixImages(halves[0], names[0], halves[1], names[1])


def _check_labels(source: ImageSource, name: str) -> None:
    if source.labels is None or source.classes is None:
        raise UsageError(f"'{name}' has no labels; a head is refitted on images with classes")
    if len(np.unique(source.labels)) < 2:
        raise UsageError(f"'{name}' has images of one class; a head needs at least two")
