"""What several data are called where they stand side by side."""

from collections.abc import Sequence
from pathlib import Path

from unshortcut.data.open import DataSpec
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.result import public_name, told_apart

Data = str | Path | ImageSource


def by_short_name(data: Sequence[Data]) -> dict[str, Data]:
    """By split or by the last part of the path; by all that was written where those repeat."""
    names = [_short(one) for one in data]
    if len(set(names)) < len(names):
        names = [data_name(one) for one in data]
    return dict(zip(told_apart(names), data, strict=True))


def data_name(data: Data) -> str:
    """What a user calls the data, without folders that only its owner knows."""
    if isinstance(data, Shapes):
        return f"shapes@{data.split}"
    return type(data).__name__ if isinstance(data, ImageSource) else public_name(str(data))


def _short(data: Data) -> str:
    if isinstance(data, ImageSource):
        return data.split if isinstance(data, Shapes) else type(data).__name__
    spec = DataSpec.parse(data)
    return spec.split or Path(spec.where).name.removesuffix(".tar")
