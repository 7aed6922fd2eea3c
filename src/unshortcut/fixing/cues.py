"""Which images carry a cue, and where: a CSV file by the reader, or by the audit.

The columns are `image`, the name of an image in its data set, and `group`, the cue that it carries;
`x0`, `y0`, `x1` and `y1` may say where it is, in pixels of the full image. An image that carries
two cues has two lines, and one without a cue has none, or an empty group.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshortcut.data.source import ImageSource
from unshortcut.data.tables import header, read_columns
from unshortcut.errors import UsageError
from unshortcut.measuring.linear_head import Indices

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""
BOX_COLUMNS = ("x0", "y0", "x1", "y1")
NONE = "without"
"""The group of images that carry no cue."""


@dataclass(frozen=True)
class Cues:
    """What a file says of images, by their names."""

    path: Path
    groups: Mapping[str, str]
    """Of images that carry a cue; two cues are joined by ` + `."""
    boxes: Mapping[str, tuple[Box, ...]]
    """Where the cues of an image are, if that is known."""

    def groups_of(self, names: Sequence[str]) -> tuple[Indices, tuple[str, ...]]:
        """The group (N,) of each image, and the names of the groups, of which the first is `NONE`.

        Raises `UsageError` if no image is in the file.
        """
        found = [self.groups.get(name, NONE) for name in names]
        known = (NONE, *sorted(set(found) - {NONE}))
        if len(known) == 1:
            raise UsageError(
                f"'{self.path}' names no image of the data; its first image is "
                f"'{next(iter(self.groups), '')}', the data have '{next(iter(names), '')}'"
            )
        number = {name: index for index, name in enumerate(known)}
        return np.array([number[one] for one in found], dtype=np.int64), known


def read_cues(path: str | Path) -> Cues:
    """Read a file of cues. Raises `UsageError` for one that is not a table of them."""
    path = Path(path)
    located = set(BOX_COLUMNS) <= set(header(path))
    columns = ("image", "group", *(BOX_COLUMNS if located else ()))
    groups: dict[str, list[str]] = {}
    boxes: dict[str, list[Box]] = {}
    for line, row in read_columns(path, columns):
        if not row:
            raise UsageError(f"'{path}', line {line}: the line is cut off")
        image, group = row[0].strip(), row[1].strip()
        if not group:
            continue
        if group not in groups.setdefault(image, []):
            groups[image].append(group)
        if located and any(row[2:]):
            boxes.setdefault(image, []).append(_box(row[2:], path, line))
    if not groups:
        raise UsageError(f"'{path}' lists no image with a group")
    return Cues(
        path,
        {name: " + ".join(sorted(found)) for name, found in groups.items()},
        {name: tuple(found) for name, found in boxes.items()},
    )


def lists_nothing(path: str | Path) -> bool:
    """Whether a file has columns and no lines, as `unshortcut carriers` writes if it finds none."""
    path = Path(path)
    return "group" in header(path) and not any(True for _ in read_columns(path, ("group",)))


def names_of(source: ImageSource) -> list[str]:
    """The names of the images of a source."""
    return [source.identity(index) for index in range(len(source))]


def _box(cells: Sequence[str], path: Path, line: int) -> Box:
    try:
        left, top, right, bottom = map(float, cells)
    except ValueError:
        raise UsageError(f"'{path}', line {line}: {', '.join(cells)} are not numbers") from None
    if not all(map(math.isfinite, (left, top, right, bottom))) or left >= right or top >= bottom:
        raise UsageError(
            f"'{path}', line {line}: the box from ({left:g}, {top:g}) to ({right:g}, {bottom:g}) "
            "has no area"
        )
    return left, top, right, bottom
