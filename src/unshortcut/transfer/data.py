"""The data of fine-tuning: images to train on, to choose the best weights on, and to test on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.arrays import IndexArray
from unshortcut.data.failures import Failure
from unshortcut.data.joined_splits import joined_parts
from unshortcut.data.naming import Data, by_short_name, data_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.scan import readable, scan
from unshortcut.data.source import Annotated, ImageSource, Subset
from unshortcut.errors import UsageError
from unshortcut.probes.class_subset import with_training_labels
from unshortcut.probes.holdout import stratified_holdout
from unshortcut.progress import bar
from unshortcut.randomness import generator
from unshortcut.transfer.protocol import Protocol, TransferData
from unshortcut.transfer.task import TaskSettings

_TRAIN = re.compile(r"(?<![a-z])train(val)?(?![a-z])")
"""The name of training images in that of a split."""


@dataclass(frozen=True)
class TaskData:
    """What a run of fine-tuning uses."""

    name: str
    """The data as the user named them, without private folders."""
    classes: tuple[str, ...]
    train: ImageSource
    validation: ImageSource | None
    """Images on which the best weights are chosen; None if the last weights are the result."""
    tests: Mapping[str, ImageSource]
    failures: tuple[Failure, ...]
    """Images that cannot be read and annotations that cannot be used."""

    def summary(self) -> str:
        """How many images are used for what."""
        held = "none to choose weights on, so the last ones are the result"
        if self.validation is not None:
            held = f"{len(self.validation)} to choose the best weights on"
        counts = ", ".join(f"{len(source)} ({name})" for name, source in self.tests.items())
        tested = f"{counts or 'none'} to test on{'' if counts else ' (--on DATA gives some)'}"
        train = f"{len(self.train)} to train on ({len(self.classes)} classes)"
        return f"images: {train}, {held}, {tested}"

    def fingerprint(self) -> str:
        """A digest of all content that the weights of the run depend on."""
        parts = [self.train.fingerprint()]
        parts += [] if self.validation is None else [self.validation.fingerprint()]
        return "-".join(parts)


def open_task_data(
    protocol: Protocol,
    data: Data,
    tests: Sequence[Data] | Mapping[str, Data],
    console: Console,
    *,
    visible: bool = True,
) -> TaskData:
    """Open the data, leave out what cannot be read, and set images aside to choose weights on.

    Data with the splits `val` and `test` are tested on `test`, and the best weights are chosen on
    `val`; otherwise a part of the training images is held out for that.
    """
    task, settings = protocol.task, protocol.data
    everything = open_data(data)
    classes = _classes(task, everything, data)
    siblings = _siblings(data)
    default = [siblings[name] for name in ("test", "val") if name in siblings][:1]
    named = tests if isinstance(tests, Mapping) else by_short_name(list(tests) or default)
    given = {name: open_data(one) for name, one in named.items()}
    opened = {name: _same_classes(one, protocol, classes, name) for name, one in given.items()}
    contents = {one.fingerprint(): name for name, one in given.items()}
    if everything.fingerprint() in contents:
        raise UsageError(
            f"the test data '{contents[everything.fingerprint()]}' are the training data; leave "
            "them out, or give others"
        )
    with bar(console, "reading headers", visible=visible) as on_progress:
        report = scan(everything, seed=protocol.seed, on_progress=on_progress)
    report.check()
    train = readable(everything, report)
    train = _usable(train, protocol)
    train = _fraction(train, settings)
    validation = None
    if settings.validation:
        own = open_data(siblings["val"]) if "val" in siblings else None
        if own is not None and own.fingerprint() not in contents:
            validation = _same_classes(own, protocol, classes, siblings["val"])
        else:
            held = _held_out(train, settings.validation, protocol.seed)
            if held.any():
                validation = Subset(train, np.flatnonzero(held))
                train = Subset(train, np.flatnonzero(~held))
    if task.dense:
        train = Annotated(train)
    failures = (*report.bad, *everything.left_out)
    return TaskData(data_name(data), classes, train, validation, opened, failures)


def _siblings(data: Data) -> dict[str, str]:
    """The splits `test` and `val` beside the training images, called like theirs.

    Beside `scene-train` that is `scene-val`, and `val-segmentation` beside `train-segmentation`.
    """
    if isinstance(data, ImageSource):
        return {}
    spec = DataSpec.parse(data)
    known, own = splits(spec.where), spec.split or "train"
    parts = joined_parts(own, known) or (own,)
    found: dict[str, str] = {}
    for name in ("test", "val"):
        # `trainval` contains `val`.
        renamed = [_TRAIN.sub(name, one) for one in parts if name == "test" or "val" not in one]
        others = [one for one in renamed if one in known and one not in parts]
        if others:
            found[name] = f"{spec.where}@{others[0]}"
    return found


def _classes(task: TaskSettings, source: ImageSource, data: Data) -> tuple[str, ...]:
    """The classes to predict; an error names the split that has masks, if there is one."""
    try:
        return task.classes(source)
    except UsageError as error:
        if isinstance(data, ImageSource):
            raise
        spec = DataSpec.parse(data)
        masked = f"{spec.split or 'train'}-segmentation"
        if not task.dense or masked not in splits(spec.where):
            raise
        raise UsageError(f"{error}; images with masks are {spec.where}@{masked}") from None


def _same_classes(
    source: ImageSource, protocol: Protocol, classes: tuple[str, ...], name: str
) -> ImageSource:
    """A source with the classes of the training data."""
    if protocol.task.name == "classify" and source.classes is not None:
        return with_training_labels(source, classes, name)
    try:
        found = protocol.task.classes(source)
    except UsageError as error:
        raise UsageError(f"'{name}': {error}") from None
    if found == classes:
        return source
    if set(found) == set(classes):
        raise UsageError(f"'{name}' has the classes of the training data in another order")
    unlike = next((one for one in found if one not in classes), None)
    raise UsageError(
        f"'{name}' has other classes than the training data: "
        + (f"'{unlike}' is not among them" if unlike else f"{len(found)}, not {len(classes)}")
    )


def _usable(source: ImageSource, protocol: Protocol) -> ImageSource:
    """The images with a label, for the task that needs one."""
    if protocol.task.name != "classify" or source.labels is None or (source.labels >= 0).all():
        return source
    return Subset(source, np.flatnonzero(source.labels >= 0))


def _fraction(source: ImageSource, settings: TransferData) -> ImageSource:
    """A share of the images, of each class if there are classes, and at least one of each."""
    if settings.fraction == 1:
        return source
    rng = generator(settings.fraction_seed, "fraction")
    groups = [np.arange(len(source))]
    if source.labels is not None:
        groups = [np.flatnonzero(source.labels == one) for one in np.unique(source.labels)]
    kept: list[IndexArray] = []
    for group in groups:
        count = max(1, round(settings.fraction * len(group)))
        kept.append(rng.permutation(group)[:count])
    return Subset(source, np.sort(np.concatenate(kept)))


def _held_out(source: ImageSource, part: float, seed: int) -> NDArray[np.bool_]:
    """(N,) bool: a share of the images, of each class where images have one; maybe none.

    If some images show objects and others none, a share of both: few objects would otherwise all
    be on one side.
    """
    held = np.zeros(len(source), dtype=np.bool_)
    shows = None if source.multilabels is None else (source.multilabels.values == 1).any(axis=1)
    if shows is not None and 1 < shows.sum() < len(shows):
        held[stratified_holdout(torch.from_numpy(shows).long(), part, seed).numpy()] = True
    elif source.labels is None or source.labels.min() < 0:
        count = min(round(part * len(source)), len(source) - 1)
        held[generator(seed, "validation").permutation(len(source))[:count]] = True
    elif np.bincount(source.labels).max() > 1:
        chosen = stratified_holdout(torch.from_numpy(source.labels), part, seed)
        held[chosen.numpy()] = True
    return held
