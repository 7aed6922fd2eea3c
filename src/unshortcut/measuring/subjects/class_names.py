"""Which outputs of a classifier belong to which classes of a data set.

A class may have several outputs: an ImageNet head has several for each of the 16 categories of
Geirhos et al. (2019), and a mapping file may list several. The probability of the class is the mean
(or the sum) of theirs.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import timm.data
from numpy.typing import NDArray

from unshortcut.data.class_lists import wordnet_ids
from unshortcut.errors import UsageError
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.wording import some

Aggregate = Literal["mean", "sum"]
ClassMapping = Mapping[str, Sequence[str]]
"""Classes of the model (names, or indices from 0) for each class of the data."""

IMAGENET_CLASSES = 1000
CATEGORIES = {
    "airplane": "404",
    "bear": "294-297",
    "bicycle": "444 671",
    "bird": "8 10-16 18-20 22-24 80-83 87-96 98-100 127-133 135-145",
    "boat": "472 554 625 814 914",
    "bottle": "440 720 737 898-899 901 907",
    "car": "436 511 817",
    "cat": "281-286",
    "chair": "423 559 765 857",
    "clock": "409 530 892",
    "dog": "152-191 193-203 205-226 228-241 243-250 252-257 259 261-263 265-268",
    "elephant": "385-386",
    "keyboard": "508 878",
    "knife": "499",
    "oven": "766",
    "truck": "555 569 656 675 717 734 864 867",
}
"""Indices of the ImageNet classes of the 16 categories of Geirhos et al. (2019), as published in
rgeirhos/texture-vs-shape."""


@dataclass(frozen=True)
class ClassOutputs:
    """The outputs of a classifier that belong to each of some classes."""

    names: tuple[str, ...]  # classes that have at least one output
    members: tuple[tuple[int, ...], ...]  # indices of the outputs of each class
    missing: tuple[str, ...] = ()  # requested classes without an output
    aggregate: Aggregate = "mean"

    def probabilities(self, native: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities (N, C) of the outputs to probabilities (N, K) of the classes."""
        chosen = self._aggregated(native)
        total = chosen.sum(axis=1, keepdims=True)
        # All neighbors of a kNN classifier may be of other classes: then all are equally likely.
        even = np.full_like(chosen, 1 / len(self.names))
        return np.divide(chosen, total, out=even, where=total > 0)

    def decisions(self, native: NDArray[np.float64]) -> NDArray[np.int64]:
        """Probabilities (N, C) of the outputs to likeliest classes (N,); -1 where all have 0."""
        chosen = self._aggregated(native)
        return np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)

    @property
    def grouped(self) -> bool:
        """Whether a class has several outputs, so that `aggregate` makes a difference."""
        return any(len(outputs) > 1 for outputs in self.members)

    def _aggregated(self, native: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean (or sum) of the probabilities of the outputs of each class, (N, K)."""
        reduce = np.mean if self.aggregate == "mean" else np.sum
        columns = [reduce(native[:, list(outputs)], axis=1) for outputs in self.members]
        return np.stack(columns, axis=1)


def outputs_for(
    names: Sequence[str],
    native: Sequence[str],
    mapping: ClassMapping | None,
    aggregate: Aggregate,
    *,
    by_name_first: bool = False,
) -> ClassOutputs:
    """Find the outputs of each class by the mapping, by name, or by what ImageNet calls them.

    Outputs that are classes of ImageNet, all of them or some (ImageNet-100), are also found by the
    WordNet id and the other names of their class, and by its category among the 16. A class with
    several WordNet ids in its name has the outputs of all of them.
    `NotApplicable` is raised if fewer than two classes have an output.

    Args:
        names: classes of the data.
        native: names of the classifier's outputs.
        by_name_first: use the mapping only for classes that no output is named after, and only
            where all of its entries are names of outputs. It was written for another classifier.
    """
    outputs = _Outputs(native)
    known = dict(mapping or {})
    if by_name_first:
        own = set(native)
        known = {name: known[name] for name in known if name not in own and {*known[name]} <= own}
    members = {name: outputs.members(name, known) for name in names}
    found = {name: indices for name, indices in members.items() if indices}
    if len(found) < 2:
        raise NotApplicable(
            f"the classes of the model ({some(native)}) and of the images ({some(names)}) have "
            "fewer than two in common; a mapping file (--mapping) can match them"
        )
    missing = tuple(name for name in names if name not in found)
    return ClassOutputs(tuple(found), tuple(found.values()), missing, aggregate)


def placeholder_names(count: int) -> tuple[str, ...]:
    """Names for outputs that have none; no class folder is called so by accident."""
    return tuple(f"output {index}" for index in range(count))


@cache
def categories() -> Mapping[str, tuple[int, ...]]:
    """Indices of the ImageNet classes of each of the 16 categories."""
    found = {}
    for name, text in CATEGORIES.items():
        ends = [part.split("-") for part in text.split()]
        found[name] = tuple(i for end in ends for i in range(int(end[0]), int(end[-1]) + 1))
    return found


def imagenet_indices(native: Sequence[str]) -> list[int | None]:
    """The index in ImageNet of each output, where it is one of ImageNet's classes."""
    indices = [_imagenet_index(name) for name in native]
    if len(native) == IMAGENET_CLASSES:
        in_order = sum(output == index for output, index in enumerate(indices))
        # Two classes are called crane, and lists differ in a few names: their order tells them.
        if (
            tuple(native) == placeholder_names(IMAGENET_CLASSES)
            or in_order > 0.9 * IMAGENET_CLASSES
        ):
            return list(range(IMAGENET_CLASSES))
    return indices


class _Outputs:
    """The outputs of a classifier by everything that they may be called."""

    def __init__(self, native: Sequence[str]) -> None:
        self.native = native
        self.exact = _indices_by_name(native)
        self.similar = _indices_by_name([_plain(name) for name in native])
        self.imagenet = imagenet_indices(native)

    def members(self, name: str, mapping: ClassMapping) -> tuple[int, ...]:
        """Indices of the outputs of a class; empty where it has none."""
        mapped = [self._index(entry) for entry in mapping.get(name, ())]
        found = [index for index in mapped if index is not None]
        if mapped and len(found) == len(mapped):
            return tuple(dict.fromkeys(found))
        if mapped:
            wrong = f"the mapping gives '{mapping[name][mapped.index(None)]}' for '{name}', "
            if name not in self.exact:
                count, names = len(self.native), some(self.native)
                raise UsageError(f"{wrong}which is none of the model's {count} classes: {names}")
            warnings.warn(
                f"{wrong}which is not a class of the model; the model's own class '{name}' is used",
                stacklevel=2,
            )
        return self._named(name)

    def _named(self, name: str) -> tuple[int, ...]:
        """Indices of the outputs with a name, which may be one of ImageNet's."""
        if name in self.exact:
            return self.exact[name]
        similar = self.similar.get(_plain(name), ())
        if len(similar) == 1:
            return similar
        # A class of several ImageNet classes, as of ObjectNet, has their ids in its name.
        ids = wordnet_ids(name) or (name,)
        found = [_imagenet_index(one) for one in ids]
        wanted = set(categories().get(_plain(name)) or found) - {None}
        return tuple(index for index, number in enumerate(self.imagenet) if number in wanted)

    def _index(self, entry: str) -> int | None:
        """The output that an entry of a mapping means; None where it is not exactly one."""
        if entry in self.exact:
            return self.exact[entry][0]
        if entry.isdecimal():
            return int(entry) if int(entry) < len(self.native) else None
        named = self._named(entry)
        return named[0] if len(named) == 1 else None


def _imagenet_index(name: str) -> int | None:
    """Index of the only ImageNet class with this WordNet id or name; None if there is not one."""
    indices = _imagenet().get(_plain(name), ())
    return indices[0] if len(indices) == 1 else None


@cache
def _imagenet() -> dict[str, tuple[int, ...]]:
    """ImageNet classes by WordNet id, by each of their names, and by all of their names."""
    info = timm.data.ImageNetInfo("imagenet-1k")  # ids and names come with timm
    found: dict[str, dict[int, None]] = {}
    texts = zip(info.label_names(), info.label_descriptions(), strict=True)
    for index, (wordnet_id, description) in enumerate(texts):
        for name in (wordnet_id, description, *description.split(",")):
            found.setdefault(_plain(name), {})[index] = None
    return {name: tuple(indices) for name, indices in found.items()}


def _indices_by_name(names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        found.setdefault(name, []).append(index)
    return {name: tuple(indices) for name, indices in found.items()}


def _plain(name: str) -> str:
    """Lower case without punctuation; the name itself where nothing would be left."""
    return "".join(character for character in name.lower() if character.isalnum()) or name
