"""What an audit is given, opened: the images to measure on, those to fit on, and the rest."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from unshortcut.data.naming import Data, by_short_name, data_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource, Subset
from unshortcut.errors import UnshortcutError, UsageError
from unshortcut.measuring.settings import Input
from unshortcut.measuring.subjects.conflict import Conflict, open_conflict
from unshortcut.measuring.subjects.hierarchy import read_hierarchy
from unshortcut.measuring.subjects.images import half_of_each
from unshortcut.result import public_name

T = TypeVar("T")
MEASURED = ("test", "val")
"""Splits that are measured on, the first that there is."""


@dataclass(frozen=True)
class Images:
    """Images to measure on, and labeled ones to fit a readout on, which are never the same."""

    name: str
    measured: ImageSource
    fit: ImageSource | None
    """None where all images are measured on, or none has a label."""
    fit_name: str

    def halved(self, seed: int) -> "Images":
        """With a half to fit on, of each class, where there are no other labeled images."""
        labels = self.measured.labels
        if self.fit is not None or labels is None:
            return self
        chosen = half_of_each(labels, seed)
        rest = np.setdiff1d(np.arange(len(labels)), chosen)
        if not len(rest):
            raise UsageError(
                f"'{self.name}' has one image a class: a readout needs some to be fitted on, and "
                "others to be measured on"
            )
        return Images(
            self.name,
            Subset(self.measured, rest),
            Subset(self.measured, chosen),
            f"one half of {self.name}",
        )


def open_images(data: Data, train: Data | None) -> Images:
    """The `test` split, or else `val`, or else all; `train` is what a readout is fitted on."""
    name = data_name(data)
    if isinstance(data, ImageSource):
        if train is None:
            return Images(name, data, None, "")
        return _apart(Images(name, data, open_data(train), data_name(train)))
    spec = DataSpec.parse(data)
    known = splits(spec.where)
    chosen = spec.split or next((split for split in MEASURED if split in known), None)
    measured = open_data(spec.where, split=chosen)
    if train is not None:
        return _apart(Images(name, measured, open_data(train), data_name(train)))
    if chosen is None or chosen == "train" or "train" not in known:
        return Images(name, measured, None, "")
    fit = open_data(spec.where, split="train")
    if fit.labels is None:
        return Images(name, measured, None, "")
    return Images(name, measured, fit, f"{public_name(spec.where)}@train")


def _apart(images: Images) -> Images:
    """The images, unless a readout would be measured on what it was fitted on."""
    if images.fit is not None and images.fit.fingerprint() == images.measured.fingerprint():
        raise UsageError(
            f"a readout cannot be measured on the images that it was fitted on: '{images.fit_name}'"
        )
    return images


@dataclass(frozen=True)
class Given:
    """What was given beside models and data; what cannot be used has a reason instead."""

    conflict: Conflict | None
    shifts: Mapping[str, ImageSource]
    hierarchy: Mapping[str, str] | None
    faults: Mapping[Input, str]
    names: Mapping[str, str]

    def has(self, needed: Input) -> bool:
        return bool(getattr(self, needed))

    def identity(self, needed: Sequence[Input]) -> str:
        """Changes with the content of what a measurement needs."""
        parts = []
        if "conflict" in needed and self.conflict is not None:
            parts.append(self.conflict.source.fingerprint())
        if "shifts" in needed:
            parts += [f"{name} {one.fingerprint()}" for name, one in self.shifts.items()]
        if "hierarchy" in needed:
            parts.append(repr(sorted((self.hierarchy or {}).items())))
        return " ".join(parts)


def open_given(
    conflict: Data | None, shifts: Sequence[Data] | Mapping[str, Data], hierarchy: str | Path | None
) -> Given:
    """Open what there is; a fault is kept for the measurement that would have used it."""
    faults: dict[Input, str] = {}

    def attempt(needed: Input, action: Callable[[], T]) -> T | None:
        try:
            return action()
        except UnshortcutError as error:
            faults[needed] = str(error)
            return None

    named = shifts if isinstance(shifts, Mapping) else by_short_name(shifts)
    opened: dict[str, ImageSource] = {}
    for name, spec in named.items():
        try:
            opened[name] = open_data(spec)
        except UnshortcutError as error:
            faults["shifts"] = str(error)
            warnings.warn(f"the shift '{name}' is left out: {error}", stacklevel=2)
    lost = [f"{name} (could not be opened)" for name in named if name not in opened]
    names = {
        "conflict": "" if conflict is None else data_name(conflict),
        "shift": ", ".join([*opened, *lost]),
        "hierarchy": "" if hierarchy is None else public_name(str(hierarchy)),
    }
    return Given(
        None if conflict is None else attempt("conflict", lambda: open_conflict(conflict)),
        opened,
        None if hierarchy is None else attempt("hierarchy", lambda: read_hierarchy(hierarchy)),
        faults,
        {key: name for key, name in names.items() if name},
    )
