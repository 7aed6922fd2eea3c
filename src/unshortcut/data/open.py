"""Opening data by a spec: a folder, a tar file, shards, Parquet files, or a name."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from unshortcut.data import tree
from unshortcut.data.class_lists import CLASS_LISTS, class_list, wordnet_ids
from unshortcut.data.folder import image_paths, open_folder
from unshortcut.data.joined_splits import joined_parts
from unshortcut.data.layout import Layout, layouts, recognized
from unshortcut.data.layouts.parquet import open_parquet
from unshortcut.data.named import NAMES, named_splits, open_named
from unshortcut.data.parquet_columns import is_parquet
from unshortcut.data.planted import cues, is_cue, parse_cue
from unshortcut.data.relabeled import with_classes
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern, open_shards
from unshortcut.data.source import ImageSource, Joined
from unshortcut.data.tarfile_source import image_members, is_tar, open_tar
from unshortcut.errors import UsageError, unknown

_IMAGENET = re.compile(r"imagenet([-_]?(10|100|1k|21k|1000))?", re.IGNORECASE)


@dataclass(frozen=True)
class DataSpec:
    """`DATA@split` in its two parts: where the data are, and the split, if any."""

    where: str
    split: str | None = None

    @classmethod
    def parse(cls, spec: str | Path) -> "DataSpec":
        """Parse a spec; an '@' in an existing path is part of the path."""
        text = str(spec)
        where, at, split = text.rpartition("@")
        if not at or "/" in split or Path(text).expanduser().exists():
            return cls(text)
        if not where or not split:
            raise UsageError(f"'{text}' is not DATA@split: one side of the '@' is empty")
        return cls(where, split)

    def __str__(self) -> str:
        return self.where if self.split is None else f"{self.where}@{self.split}"


def open_data(
    spec: str | Path | ImageSource, *, split: str | None = None, **options: Any
) -> ImageSource:
    """Open a data set.

    Args:
        spec: a folder of images or of Parquet files, a tar file, a Parquet file,
            `path/{000..127}.tar`, or a name, with or without `@split`; `LAYOUT:FOLDER` for a
            published data set, `imagenet100:DATA` for the classes of a list, or `marks:DATA` for
            DATA with a planted cue; a source is returned as it is.
        split: the split, if the spec does not name one, or several such as `train+val`. By default
            `train` if there is such a split, otherwise all images.
        options: `size`, `count`, `seed` and `label` of `shapes`; other data have no options.

    Raises `UsageError` for a spec that cannot be opened, `RunError` if a download fails.
    """
    if isinstance(spec, ImageSource):
        if split is not None or options:
            raise UsageError("an image source takes no split and no options")
        return spec
    parsed = DataSpec.parse(spec)
    if split is not None and parsed.split not in (None, split):
        raise UsageError(f"'{parsed}' names a split, but the split '{split}' is given as well")
    split = split or parsed.split
    if split is not None and "+" in split:
        parts = joined_parts(split, splits(parsed.where))
        if parts is not None:
            opened = [open_data(parsed.where, split=part, **options) for part in parts]
            return Joined(*opened)
    if parsed.where in NAMES:
        return open_named(parsed.where, split, options)
    name, rest = prefixed(parsed.where)
    if name is not None and is_cue(name):
        others = partial(open_data, rest, **options)
        return parse_cue(name).plant(others(split=split), lambda one: others(split=one))
    if options:
        raise UsageError(f"{parsed.where} takes no options, but got {', '.join(options)}")
    if name is not None:
        in_list = name in CLASS_LISTS
        return _of_list(name, rest, split) if in_list else _layout(name, rest).open(split)
    if is_shard_pattern(parsed.where):
        return _open_shards(expand(parsed.where), split, parsed.where)
    path = _existing(parsed.where)
    if path.is_dir():
        layout = recognized(path)
        return open_folder(path, split) if layout is None else layout.open(split)
    if is_parquet(path) or holds_samples(path):
        return _open_shards([path], split, parsed.where)
    return open_tar(path, split)


def splits(spec: str | Path | ImageSource) -> tuple[str, ...]:
    """The splits of a data set; none for shards, for a source, and if the spec names one."""
    if isinstance(spec, ImageSource):
        return ()
    parsed = DataSpec.parse(spec)
    if parsed.split is not None:
        return ()
    if parsed.where in NAMES:
        return named_splits(parsed.where)
    name, rest = prefixed(parsed.where)
    if name is not None:
        of_rest = name in CLASS_LISTS or is_cue(name)
        return splits(rest) if of_rest else _layout(name, rest).splits()
    if is_shard_pattern(parsed.where):
        return ()
    path = _existing(parsed.where)
    if path.is_dir():
        layout = recognized(path)
        if layout is not None:
            return layout.splits()
        return tree.split_names(image_paths(path))
    if is_parquet(path):
        return ()
    return tree.split_names([member.name for member in image_members(path)])


def prefixed(where: str) -> tuple[str | None, str]:
    """The cue, the list of classes or the layout that a spec starts with, if any, and the rest."""
    name, colon, rest = where.partition(":")
    if colon and rest and (name in CLASS_LISTS or name in layouts() or is_cue(name)):
        return name, rest
    return None, where


def unprefixed(where: str) -> str:
    """The name or the path that a spec refers to, without all that it starts with."""
    name, rest = prefixed(where)
    return where if name is None else unprefixed(rest)


def _of_list(name: str, where: str, split: str | None) -> ImageSource:
    """The images of the classes of a list."""
    source, wanted = open_data(where, split=split), set(class_list(name))
    chosen = [one for one in source.classes or () if wanted.intersection(wordnet_ids(one))]
    if source.classes and not chosen:
        raise UsageError(
            f"none of the {len(source.classes)} classes of '{where}' is in the list {name}, whose "
            f"classes are WordNet ids such as {min(wanted)}; '{source.classes[0]}' is not"
        )
    return with_classes(source, chosen, where)


def _layout(name: str, where: str) -> Layout:
    path = _existing(where)
    if not path.is_dir():
        raise UsageError(f"{name}: needs a folder, and {where} is a file")
    return layouts()[name](path)


def _open_shards(paths: list[Path], split: str | None, where: str) -> ImageSource:
    if split is not None:
        raise UsageError(f"shards have no splits; give the shards of '{split}' instead of {where}")
    parquet = [path.suffix == ".parquet" or (path.is_file() and is_parquet(path)) for path in paths]
    return open_parquet(paths) if all(parquet) else open_shards(paths)


def _existing(where: str) -> Path:
    """The path of a folder, tar or Parquet file, or a `UsageError` that says what is wrong."""
    path = Path(where).expanduser()
    if path.is_dir():
        return path
    if path.is_file():
        if not is_parquet(path) and not is_tar(path):
            raise UsageError(f"{where} is a file, but neither a tar file nor a Parquet file")
        return path
    if path.exists():
        raise UsageError(f"{where} is neither a folder nor a file")
    if _IMAGENET.fullmatch(where):
        raise UsageError(
            f"'{where}' cannot be downloaded, because ImageNet is available on request only; "
            "give --data the folder with its train/ and val/ (for ImageNet-100, "
            "imagenet100:FOLDER takes its classes from there)"
        )
    if re.fullmatch(r"[\w-]+:.+", where):
        raise unknown("prefix", where.partition(":")[0], (*CLASS_LISTS, *cues(), *layouts()))
    if "/" in where or where.startswith((".", "~")) or path.suffix:
        raise UsageError(f"no such folder or file: {where}")
    names = unknown("data set", where, NAMES)
    raise UsageError(f"there is no folder '{where}' here, and as a name it is an {names}")
