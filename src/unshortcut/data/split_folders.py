"""Folders of images that are splits, whatever the year in their names."""

import re
from collections.abc import Iterable
from pathlib import Path

from unshortcut.data.tree import is_hidden

EVERYTHING = "all"
"""The only split of images that are in no folders of splits."""
_SPLIT = re.compile(r"(train|val|valid|validation|test)[-_]?(20\d\d)?", re.IGNORECASE)
_ORDER = ("train", "val", "test")


def by_split(names: Iterable[str]) -> dict[str, str]:
    """Names such as `train2017` by split, `train` first; other names are left out.

    >>> by_split(["val2017", "train2017", "notes"])
    {'train': 'train2017', 'val': 'val2017'}

    The year stays where there are several:

    >>> by_split(["train2014", "train2017"])
    {'train2014': 'train2014', 'train2017': 'train2017'}
    """
    matches = [match for match in map(_SPLIT.fullmatch, sorted(names)) if match is not None]
    short = [re.sub("^valid.*", "val", match[1].lower()) for match in matches]
    found = [
        (split if short.count(split) == 1 else match[0], match[0], split)
        for split, match in zip(short, matches, strict=True)
    ]
    return {name: folder for name, folder, _ in sorted(found, key=_rank)}


def split_folders(root: Path) -> dict[str, str]:
    """The folders of splits below a folder, or the folder itself as `all`, with the path ''."""
    try:
        names = [one.name for one in root.iterdir() if one.is_dir() and not is_hidden(one.name)]
    except OSError:
        return {}
    return by_split(names) or {EVERYTHING: ""}


def _rank(entry: tuple[str, str, str]) -> tuple[int, str]:
    return _ORDER.index(entry[2]), entry[0]
