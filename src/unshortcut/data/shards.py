"""Tar shards as in webdataset: members with the same key form one sample."""

import json
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unshortcut.data import tree
from unshortcut.data.tarfile_source import Member, TarSource, index_tar, is_tar, read_range
from unshortcut.errors import UsageError

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_MAX_SHARDS = 1_000_000
_MAX_CLASSES = 1_000_000

Label = int | str


def is_shard_pattern(spec: str) -> bool:
    """Whether a spec is a pattern of shards: `path/{000..127}.tar`."""
    return _RANGE.search(spec) is not None


def expand(pattern: str) -> list[Path]:
    """The files of a pattern, with numbers as wide as the first one.

    >>> [path.name for path in expand("train-{08..11}.tar")]
    ['train-08.tar', 'train-09.tar', 'train-10.tar', 'train-11.tar']
    """
    pieces = _RANGE.split(pattern)
    ranges: list[list[str]] = []
    count = 1
    for first, last in zip(pieces[1::3], pieces[2::3], strict=True):
        if int(last) < int(first):
            raise UsageError(f"the range {{{first}..{last}}} in '{pattern}' runs backwards")
        count *= int(last) - int(first) + 1
        if count > _MAX_SHARDS:
            raise UsageError(f"'{pattern}' stands for more than {_MAX_SHARDS} files")
        width = len(first)
        ranges.append([f"{n:0{width}d}" for n in range(int(first), int(last) + 1)])
    names = []
    for numbers in product(*ranges):
        texts = [pieces[0]]
        for number, text in zip(numbers, pieces[3::3], strict=True):
            texts += [number, text]
        names.append(Path("".join(texts)).expanduser())
    return names


def holds_samples(path: Path) -> bool:
    """Whether a single tar file is a shard: it has labels as separate members (`.cls`)."""
    return any(tree.extension(member.name) == "cls" for member in index_tar(path))


def sample_key(name: str) -> str:
    """The key of a member's sample: the path up to the first dot of the file name."""
    folder, slash, last = name.rpartition("/")
    return folder + slash + last.partition(".")[0]


def open_shards(paths: list[Path]) -> TarSource:
    """Open the samples of shards in order: images with a `.cls` or `.json`, or without labels."""
    archive: list[int] = []
    images: list[Member] = []
    labels: list[Label | None] = []
    for number, path in enumerate(paths):
        if not path.is_file() or not is_tar(path):
            raise UsageError(f"no such shard: {path}")
        for sample in _samples(path):
            archive.append(number)
            images.append(sample.image)
            labels.append(_label(path, sample))
    if not images:
        raise UsageError(f"no images in the shards {paths[0]} to {paths[-1]}")
    classes, numbers = _number(labels, [image.name for image in images])
    return TarSource(paths, np.array(archive, dtype=np.int64), images, classes, numbers)


@dataclass(frozen=True)
class _Sample:
    image: Member
    label: Member | None


def _samples(path: Path) -> list[_Sample]:
    """The samples of a shard, by `sample_key`."""
    images: dict[str, Member] = {}
    labels: dict[str, Member] = {}
    for member in index_tar(path):
        key = sample_key(member.name)
        ending = member.name[len(key) + 1 :]
        if ending.lower() in tree.IMAGE_EXTENSIONS:
            images.setdefault(key, member)
        elif ending == "cls" or (ending == "json" and key not in labels):
            labels[key] = member
    return [_Sample(image, labels.get(key)) for key, image in images.items()]


def _label(path: Path, sample: _Sample) -> Label | None:
    if sample.label is None:
        return None
    content = read_range(path, sample.label.offset, sample.label.size)
    try:
        if sample.label.name.endswith(".cls"):
            return int(content)
        label = json.loads(content).get("label")
    except (ValueError, AttributeError, RecursionError):
        raise UsageError(f"{path.name}/{sample.label.name} is not a label") from None
    if isinstance(label, bool) or not isinstance(label, int | str | None):
        raise UsageError(
            f"the label in {path.name}/{sample.label.name} is neither a number nor a name"
        )
    return label


def _number(
    labels: list[Label | None], names: list[str]
) -> tuple[tuple[str, ...] | None, NDArray[np.int64] | None]:
    """Class names and labels; labels that are names are numbered in alphabetical order."""
    if all(label is None for label in labels):
        return None, None
    if None in labels:
        missing = names[labels.index(None)]
        raise UsageError(
            f"some samples of the shards have no label, such as {missing}, and others do"
        )
    numbers = [label for label in labels if isinstance(label, int)]
    if len(numbers) == len(labels):
        if not 0 <= min(numbers) <= max(numbers) < _MAX_CLASSES:
            raise UsageError(f"labels of shards must be from 0 to {_MAX_CLASSES - 1}")
        classes = tuple(str(number) for number in range(max(numbers) + 1))
        return classes, np.array(numbers, dtype=np.int64)
    if numbers:
        raise UsageError("some labels of the shards are numbers and others are names")
    classes = tuple(sorted({str(label) for label in labels}))
    number_of = {name: i for i, name in enumerate(classes)}
    return classes, np.array([number_of[str(label)] for label in labels], dtype=np.int64)
