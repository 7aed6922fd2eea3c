"""Names for data sets that are shown together."""

from collections.abc import Sequence
from pathlib import Path

from unshortcut.data.folder import FolderSource
from unshortcut.data.open import DataSpec
from unshortcut.data.planted import Planted
from unshortcut.data.proposals import WithProposals
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.result import public_name, unique_names

Data = str | Path | ImageSource


def by_short_name(data: Sequence[Data]) -> dict[str, Data]:
    """Data by split or by the last part of their path, or by their full name if those repeat."""
    names = [_short(one) for one in data]
    if len(set(names)) < len(names):
        names = [data_name(one) for one in data]
    return dict(zip(unique_names(names), data, strict=True))


def data_name(data: Data) -> str:
    """The name of the data as the user gave it, without private folders."""
    if isinstance(data, Shapes):
        return f"shapes@{data.split}"
    if isinstance(data, WithProposals):
        return f"{data_name(data.source)} with proposals"
    if isinstance(data, Planted):
        return f"{data.cue}:{data_name(data.source)}"
    if isinstance(data, FolderSource):
        return data.root.name
    return type(data).__name__ if isinstance(data, ImageSource) else public_name(str(data))


def _short(data: Data) -> str:
    if isinstance(data, ImageSource):
        return data.split if isinstance(data, Shapes) else data_name(data)
    spec = DataSpec.parse(data)
    return spec.split or Path(spec.where).name.removesuffix(".tar")
