"""Opening data by what a user writes: a folder, a tar file, shards, or a name."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshortcut.data import tree
from unshortcut.data.folder import image_paths, open_folder
from unshortcut.data.named import NAMES, named_splits, open_named
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern, open_shards
from unshortcut.data.source import ImageSource
from unshortcut.data.tarfile_source import image_members, is_tar, open_tar
from unshortcut.errors import UsageError, unknown

_IMAGENET = re.compile(r"imagenet([-_]?(10|100|1k|21k|1000))?", re.IGNORECASE)


@dataclass(frozen=True)
class DataSpec:
    """`DATA@split` taken apart: where the data are, and which split, if one is asked for."""

    where: str
    split: str | None = None

    @classmethod
    def parse(cls, spec: str | Path) -> "DataSpec":
        """Take a spec apart; an '@' that is part of an existing path stays in the path."""
        text = str(spec)
        where, at, split = text.rpartition("@")
        if not at or "/" in split or Path(text).expanduser().exists():
            return cls(text)
        if not where or not split:
            raise UsageError(f"'{text}' is not DATA@split: something is missing beside the '@'")
        return cls(where, split)

    def __str__(self) -> str:
        return self.where if self.split is None else f"{self.where}@{self.split}"


def open_data(
    spec: str | Path | ImageSource, *, split: str | None = None, **options: Any
) -> ImageSource:
    """The images that a spec names.

    Args:
        spec: a folder, a tar file, `path/{000..127}.tar`, or a name, each with `@split` or
            without; a source is returned as it is.
        split: the split, where the spec itself names none. Without either it is `train` where
            there is one, and otherwise the whole.
        options: those of `shapes` (`size`, `count`, `seed`, `label`); nothing else has any.

    Raises `UsageError` for what cannot be, `RunError` where a download fails.
    """
    if isinstance(spec, ImageSource):
        if split is not None or options:
            raise UsageError("a source that is open already takes no split and no options")
        return spec
    parsed = DataSpec.parse(spec)
    if split is not None and parsed.split not in (None, split):
        raise UsageError(f"'{parsed}' names a split, and the split '{split}' is asked for")
    split = split or parsed.split
    if parsed.where in NAMES:
        return open_named(parsed.where, split, options)
    if options:
        raise UsageError(f"{parsed.where} takes no options, and was given {', '.join(options)}")
    if is_shard_pattern(parsed.where):
        return _open_shards(expand(parsed.where), split, parsed.where)
    path = _existing(parsed.where)
    if path.is_dir():
        return open_folder(path, split)
    if holds_samples(path):
        return _open_shards([path], split, parsed.where)
    return open_tar(path, split)


def splits(spec: str | Path | ImageSource) -> tuple[str, ...]:
    """The splits that a spec offers; none for shards, for a source, and where one is named."""
    if isinstance(spec, ImageSource):
        return ()
    parsed = DataSpec.parse(spec)
    if parsed.split is not None:
        return ()
    if parsed.where in NAMES:
        return named_splits(parsed.where)
    if is_shard_pattern(parsed.where):
        return ()
    path = _existing(parsed.where)
    if path.is_dir():
        return tree.split_names(image_paths(path))
    return tree.split_names([member.name for member in image_members(path)])


def _open_shards(paths: list[Path], split: str | None, where: str) -> ImageSource:
    if split is not None:
        raise UsageError(f"shards have no splits: name those of '{split}' instead of {where}")
    return open_shards(paths)


def _existing(where: str) -> Path:
    """The folder or tar file at a path, or a `UsageError` that says what is wrong with it."""
    path = Path(where).expanduser()
    if path.is_dir():
        return path
    if path.is_file():
        if not is_tar(path):
            raise UsageError(f"{where} is a file, and neither a folder nor a tar file")
        return path
    if path.exists():
        raise UsageError(f"{where} is neither a folder nor a file")
    if _IMAGENET.fullmatch(where):
        raise UsageError(
            f"'{where}' cannot be downloaded: ImageNet is given on request only; "
            "give --data the folder that holds its train/ and val/"
        )
    if "/" in where or where.startswith((".", "~")) or path.suffix:
        raise UsageError(f"no such folder or tar file: {where}")
    names = unknown("data set", where, NAMES)
    raise UsageError(f"there is no folder '{where}' here, and as a name it is an {names}")
