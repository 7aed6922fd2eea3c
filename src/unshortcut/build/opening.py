"""Opening what is to be copied, by what a user writes: all of it, and not one split."""

from pathlib import Path

from unshortcut.build.origin import Shards, Tree
from unshortcut.data.folder import FolderSource, image_paths, open_folder
from unshortcut.data.named import NAMES, named_splits
from unshortcut.data.open import DataSpec, open_data
from unshortcut.data.shards import expand, holds_samples, is_shard_pattern
from unshortcut.data.source import ImageSource
from unshortcut.data.tarfile_source import is_tar, open_tar, open_tree
from unshortcut.errors import UsageError

Data = str | Path | ImageSource


def open_origin(data: Data) -> Tree | Shards:
    """All images that a spec names: every split of it, unless it names one itself."""
    if isinstance(data, ImageSource):
        return Tree(type(data).__name__, data)
    spec = DataSpec.parse(data)
    if spec.where in NAMES:
        return Tree(str(spec), *_named(spec))
    # Workers on a cluster start in folders of their own.
    path = Path(spec.where).expanduser().absolute()
    name = str(DataSpec(path.resolve().name, spec.split))
    if is_shard_pattern(spec.where):
        return _shards(name, expand(str(path)), spec)
    if path.is_dir():
        return Tree(name, _folder(path, spec.split))
    if path.is_file() and is_tar(path):
        if holds_samples(path):
            return _shards(name, [path], spec)
        return Tree(name, open_tar(path, spec.split) if spec.split else open_tree(path))
    return Tree(name, open_data(data))  # which says what is wrong with it


def _named(spec: DataSpec) -> list[ImageSource]:
    # STL-10's train+unlabeled is there already, as train and as unlabeled.
    every = [split for split in named_splits(spec.where) if "+" not in split]
    return [open_data(spec.where, split=split) for split in ([spec.split] if spec.split else every)]


def _folder(path: Path, split: str | None) -> FolderSource:
    if split is not None:
        return open_folder(path, split)
    names = image_paths(path)
    if not names:
        raise UsageError(f"no images in the folder {path}")
    return FolderSource(path, names, None, None)


def _shards(name: str, paths: list[Path], spec: DataSpec) -> Shards:
    if spec.split is not None:
        raise UsageError(f"shards have no splits: name those of '{spec.split}' instead")
    seen: dict[str, Path] = {}
    for path in paths:
        if not path.is_file():
            raise UsageError(f"no such shard: {path}")
        if not is_tar(path):
            raise UsageError(f"{path} is no tar file, and so no shard")
        if path.name in seen:
            raise UsageError(f"{seen[path.name]} and {path} would both become {path.name}")
        seen[path.name] = path
    return Shards(name, tuple(paths))
