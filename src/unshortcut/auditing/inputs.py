"""The inputs of an audit, opened: images to measure on, images to fit on, and the optional ones."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from unshortcut.auditing.request import AuditRequest
from unshortcut.data.class_files import read_hierarchy
from unshortcut.data.naming import Data, by_short_name, data_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource, Subset
from unshortcut.errors import UnshortcutError, UsageError
from unshortcut.measurements.measurement import Input
from unshortcut.measuring.subjects.conflict import Conflict, open_conflict
from unshortcut.measuring.subjects.corrupted import CorruptedImages, open_corrupted
from unshortcut.measuring.subjects.images import half_of_each
from unshortcut.result import public_name

T = TypeVar("T")
TEST_SPLITS = ("test", "val")
"""Splits to measure on; the first that exists is used."""


@dataclass(frozen=True)
class AuditImages:
    """Images to measure on, and others with labels to fit a classifier on."""

    name: str
    test: ImageSource
    train: ImageSource | None
    """None where there are no labeled images besides those to measure on."""
    train_name: str = ""

    def halved(self, seed: int) -> "AuditImages":
        """Split each class into a half to fit on and a half to measure on, without `train`."""
        labels = self.test.labels
        if self.train is not None or labels is None:
            return self
        half = half_of_each(labels, seed)
        rest = np.setdiff1d(np.arange(len(labels)), half)
        if not len(rest):
            raise UsageError(
                f"'{self.name}' has one image per class, and a classifier needs some images to be "
                "fitted on and others to be measured on"
            )
        test, train = Subset(self.test, rest), Subset(self.test, half)
        return AuditImages(self.name, test, train, f"one half of {self.name}")


def open_images(data: Data, train: Data | None) -> AuditImages:
    """Open the images to measure on and to fit on; `AuditRequest` says which these are."""
    name, where = data_name(data), ""
    if isinstance(data, ImageSource):
        test = data
    else:
        spec = DataSpec.parse(data)
        known = splits(spec.where)
        split = spec.split or next((one for one in TEST_SPLITS if one in known), None)
        test = open_data(spec.where, split=split)
        if split not in (None, "train") and "train" in known:
            where = spec.where
    if train is not None:
        source = open_data(train)
        if source.fingerprint() == test.fingerprint():
            raise UsageError(
                f"'{data_name(train)}' cannot be used both to fit a classifier and to measure it"
            )
        return AuditImages(name, test, source, data_name(train))
    if where:
        source = open_data(where, split="train")
        if source.labels is not None:
            return AuditImages(name, test, source, f"{public_name(where)}@train")
    return AuditImages(name, test, None)


@dataclass(frozen=True)
class OptionalInputs:
    """What some measurements need besides models and data; a reason for what cannot be used."""

    conflict: Conflict | None
    shifts: Mapping[str, ImageSource]
    hierarchy: Mapping[str, str] | None
    corrupted: CorruptedImages | None
    errors: Mapping[Input, str]
    names: Mapping[str, str]  # what the user calls them

    def has(self, needed: Input) -> bool:
        return bool(getattr(self, needed))

    def fingerprint(self, needed: Sequence[Input]) -> str:
        """Changes with the content of what a measurement needs."""
        parts = []
        if "conflict" in needed and self.conflict is not None:
            parts.append(self.conflict.source.cache_key())
        if "shifts" in needed:
            parts += [f"{name} {one.cache_key()}" for name, one in self.shifts.items()]
        if "hierarchy" in needed:
            parts.append(repr(sorted((self.hierarchy or {}).items())))
        if "corrupted" in needed and self.corrupted is not None:
            parts.append(self.corrupted.fingerprint())
        return " ".join(parts)


def open_optional(request: AuditRequest) -> OptionalInputs:
    """Open what is given; an error is kept for the measurements that need the input."""
    errors: dict[Input, str] = {}

    def attempt(needed: Input, action: Callable[[], T]) -> T | None:
        try:
            return action()
        except UnshortcutError as error:
            errors[needed] = str(error)
            return None

    conflict, hierarchy, shifts = request.conflict, request.hierarchy, request.shifts
    corrupted = request.corrupted
    shifts = shifts if isinstance(shifts, Mapping) else by_short_name(shifts)
    opened: dict[str, ImageSource] = {}
    for name, spec in shifts.items():
        source = attempt("shifts", partial(open_data, spec))
        if source is not None:
            opened[name] = source
        else:
            warnings.warn(f"the shift '{name}' is left out: {errors['shifts']}", stacklevel=2)
    missing = [f"{name} (could not be opened)" for name in shifts if name not in opened]
    given: dict[str, Data | None] = {
        "conflict": conflict,
        "shift": ", ".join([*opened, *missing]) or None,
        "hierarchy": hierarchy,
        "corrupted": corrupted,
        "mapping": request.mapping,
    }
    return OptionalInputs(
        None if conflict is None else attempt("conflict", partial(open_conflict, conflict)),
        opened,
        None if hierarchy is None else attempt("hierarchy", partial(read_hierarchy, hierarchy)),
        None if corrupted is None else attempt("corrupted", partial(open_corrupted, corrupted)),
        errors,
        {key: data_name(value) for key, value in given.items() if value is not None},
    )
