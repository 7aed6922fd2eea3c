"""Which outputs of a classifier speak for which classes of a data set.

A class may stand for several outputs: those of an ImageNet head for the 16 categories of Geirhos et
al. (2019), or what a mapping file says. Its probability is the mean of theirs (or the sum).
"""

import csv
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import timm.data
from numpy.typing import NDArray

from unshortcut.errors import UsageError
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.wording import some

Aggregate = Literal["mean", "sum"]
Mapped = Mapping[str, Sequence[str]]
"""Classes of the model, by name or number, by class of the data."""

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
"""The ImageNet classes of the 16 categories of Geirhos et al. (rgeirhos/texture-vs-shape)."""


@dataclass(frozen=True)
class ClassOutputs:
    """The outputs that speak for some classes."""

    names: tuple[str, ...]
    """Classes that the classifier can name."""
    members: tuple[tuple[int, ...], ...]
    """Places of the outputs of each."""
    missing: tuple[str, ...] = ()
    """Classes that were asked for, and that it cannot name."""
    aggregate: Aggregate = "mean"

    def probabilities(self, native: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N, C) of the classifier to (N, K) of the classes; rows sum to 1."""
        chosen = self._gathered(native)
        total = chosen.sum(axis=1, keepdims=True)
        # Neighbors may all be of other classes: then no class is likelier than another.
        even = np.full_like(chosen, 1 / len(self.names))
        return np.divide(chosen, total, out=even, where=total > 0)

    def decisions(self, native: NDArray[np.float64]) -> NDArray[np.int64]:
        """(N, C) of the classifier to the likeliest class (N,), or -1 where none is likely at all.

        Of equally likely ones it is the first.
        """
        chosen = self._gathered(native)
        return np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)

    @property
    def grouped(self) -> bool:
        """Whether a class stands for several outputs, so that the aggregate counts."""
        return any(len(places) > 1 for places in self.members)

    def _gathered(self, native: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N, K): what the outputs of each class have in the mean, or together."""
        reduce = np.mean if self.aggregate == "mean" else np.sum
        columns = [reduce(native[:, list(places)], axis=1) for places in self.members]
        return np.stack(columns, axis=1)


def select(
    names: Sequence[str],
    native: Sequence[str],
    mapping: Mapped | None,
    aggregate: Aggregate,
    *,
    by_name_first: bool = False,
) -> ClassOutputs:
    """The outputs for each name: those of the mapping, or of the same name, or of ImageNet.

    Outputs that are classes of ImageNet, all of them or some (ImageNet-100), also speak for the
    WordNet id of their class, for its other names, and for its category of the 16.

    With `by_name_first` the mapping, made for other outputs, counts only where it names these.

    Raises `NotApplicable` where fewer than two classes can be named.
    """
    outputs = _Outputs(native)
    known = mapping or {}
    if by_name_first:
        known = {
            name: entries
            for name, entries in known.items()
            if name not in native and set(entries) <= set(native)
        }
    places = {name: outputs.members(name, known) for name in names}
    found = {name: members for name, members in places.items() if members}
    if len(found) < 2:
        raise NotApplicable(
            f"the model's classes ({some(native)}) and those of the images ({some(names)}) "
            "have fewer than two in common; a mapping file (--mapping) can match them"
        )
    missing = tuple(name for name in names if name not in found)
    return ClassOutputs(tuple(found), tuple(found.values()), missing, aggregate)


def read_mapping(path: str | Path) -> dict[str, tuple[str, ...]]:
    """A mapping file: two columns (CSV or TSV), class of the data and class of the model, or JSON.

    A class of the data may have several lines; a class of the model is a name or a number from 0.
    JSON is `{"dog": ["beagle", 152]}`.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the mapping '{path}' cannot be read: {error}") from None
    if path.suffix == ".json":
        return _from_json(text, path)
    found: dict[str, list[str]] = {}
    for data_class, model_class in two_columns(text, path):
        found.setdefault(data_class, []).append(model_class)
    return {name: tuple(members) for name, members in found.items()}


def two_columns(text: str, path: Path) -> list[tuple[str, str]]:
    """The lines of a file with two columns, by tab or comma; empty ones and `#` are skipped."""
    tabs = "\t" in text
    rows = []
    lines = text.splitlines()
    for number, row in enumerate(csv.reader(lines, delimiter="\t" if tabs else ","), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if len(cells) != 2 or not all(cells):
            raise UsageError(f"'{path}', line {number}: two columns are wanted, got {row}")
        rows.append((cells[0], cells[1]))
    if not rows:
        raise UsageError(f"'{path}' holds no line with two columns")
    return rows


def unnamed(count: int) -> tuple[str, ...]:
    """What classes are called that have no name: no class folder is called so by accident."""
    return tuple(f"output {place}" for place in range(count))


@cache
def categories() -> Mapping[str, tuple[int, ...]]:
    """Numbers of the ImageNet classes of each of the 16 categories."""
    found = {}
    for name, text in CATEGORIES.items():
        ends = [part.split("-") for part in text.split()]
        found[name] = tuple(n for end in ends for n in range(int(end[0]), int(end[-1]) + 1))
    return found


class _Outputs:
    """The outputs of a classifier, by everything that they may be called."""

    def __init__(self, native: Sequence[str]) -> None:
        self.native = native
        self.exact = _by_name(native)
        self.alike = _by_name([_plain(name) for name in native])
        self.numbers = _imagenet_numbers(native)

    def members(self, name: str, mapping: Mapped) -> tuple[int, ...]:
        """Places of the outputs that speak for a class; none where nothing does."""
        mapped = [self._place(entry) for entry in mapping.get(name, ())]
        found = [place for place in mapped if place is not None]
        if found and len(found) == len(mapped):
            return tuple(dict.fromkeys(found))
        if mapped and name not in self.exact:
            odd = mapping[name][mapped.index(None)]
            raise UsageError(
                f"the mapping gives '{odd}' for '{name}', and the model has no such class: "
                f"it has {len(self.native)}, {some(self.native)}"
            )
        if mapped and name in self.exact:
            odd = mapping[name][mapped.index(None)]
            warnings.warn(
                f"the mapping gives '{odd}' for '{name}', which is no class of the model: its own "
                f"class '{name}' is taken",
                stacklevel=2,
            )
        return self._called(name)

    def _called(self, name: str) -> tuple[int, ...]:
        """Places of the outputs with a name, be it in ImageNet's words."""
        if name in self.exact:
            return self.exact[name]
        alike = self.alike.get(_plain(name), ())
        if len(alike) == 1:
            return alike
        wanted = categories().get(_plain(name)) or (_imagenet_number(name),)
        return tuple(
            place
            for place, number in enumerate(self.numbers)
            if number is not None and number in wanted
        )

    def _place(self, entry: str) -> int | None:
        if entry in self.exact:
            return self.exact[entry][0]
        if entry.isdecimal():
            return int(entry) if int(entry) < len(self.native) else None
        named = self._called(entry)
        return named[0] if len(named) == 1 else None


def _imagenet_numbers(native: Sequence[str]) -> list[int | None]:
    """The number in ImageNet of each of a classifier's classes, where it is one of ImageNet's."""
    numbers = [_imagenet_number(name) for name in native]
    if len(native) == IMAGENET_CLASSES:
        at_home = sum(place == number for place, number in enumerate(numbers))
        # Two classes are called crane, and lists differ in a few names: the places tell them.
        if tuple(native) == unnamed(IMAGENET_CLASSES) or at_home > 0.9 * IMAGENET_CLASSES:
            return list(range(IMAGENET_CLASSES))
    return numbers


def _imagenet_number(name: str) -> int | None:
    """Of the class of ImageNet with a WordNet id or a name, if it is the only one."""
    numbers = _imagenet().get(_plain(name), ())
    return numbers[0] if len(numbers) == 1 else None


@cache
def _imagenet() -> dict[str, tuple[int, ...]]:
    """Classes of ImageNet by WordNet id, by each of their names, and by all of them together."""
    info = timm.data.ImageNetInfo("imagenet-1k")  # ids and names come with timm
    called: dict[str, dict[int, None]] = {}
    texts = zip(info.label_names(), info.label_descriptions(), strict=True)
    for number, (wordnet_id, description) in enumerate(texts):
        for name in (wordnet_id, description, *description.split(",")):
            called.setdefault(_plain(name), {})[number] = None
    return {name: tuple(numbers) for name, numbers in called.items()}


def _by_name(names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The places of each name."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return {name: tuple(places) for name, places in found.items()}


def _plain(name: str) -> str:
    """Without case and punctuation, unless there is nothing else."""
    return "".join(character for character in name.lower() if character.isalnum()) or name


def _from_json(text: str, path: Path) -> dict[str, tuple[str, ...]]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the mapping '{path}' is not JSON: {error}") from None
    wanted = f"the mapping '{path}' must be an object of lists, such as {{'dog': ['beagle', 152]}}"
    if not isinstance(content, dict) or not content:
        raise UsageError(wanted)
    found = {}
    for name, members in content.items():
        entries = members if isinstance(members, list) else [members]
        if not entries or not all(type(one) in (str, int) for one in entries):
            raise UsageError(f"{wanted}; '{name}' has {members!r}")
        found[name] = tuple(str(one) for one in entries)
    return found
