"""Boxes that are proposed for images: what `unshortcut propose` writes, as regions of a source.

A CSV file with the columns image, width, height, score, x0, y0, x1, y1, in pixels; an image for
which nothing is proposed has a row with nothing after its height.
"""

import hashlib
from array import array
from pathlib import Path

import numpy as np

from unshortcut.data.boxes import BoxReader, BoxTable
from unshortcut.data.failures import Failure
from unshortcut.data.regions import Regions
from unshortcut.data.source import BadImageError, DerivedSource, ImageSource
from unshortcut.data.tables import read_columns
from unshortcut.errors import UsageError

FILE = "proposals.csv"
"""Name of the file in the folder that `unshortcut propose` writes."""
COLUMNS = ("image", "width", "height", "score", "x0", "y0", "x1", "y1")
CLASSES = ("object",)
_CHECKED = 16
"""Images whose sizes are compared with those that the file states."""


class WithProposals(DerivedSource):
    """A source whose boxes are proposals, found by the identity of an image; masks are left out.

    Boxes that cannot be used are listed in `left_out`, and the rest is used. Raises `UsageError`
    for a file of other data.

    Args:
        where: a file, or the folder that `unshortcut propose` has written.
        most: number of boxes of an image, those with the highest scores.
    """

    def __init__(self, source: ImageSource, where: str | Path, most: int = 10) -> None:
        super().__init__(source)
        self.most = most
        self.path = proposals_file(where)
        self.box_classes, self.mask_classes = CLASSES, None
        self.elsewhere = 0
        """Number of images that the file mentions and the source does not have."""
        self.table, self.without = self._read()
        """The boxes of all images, and the number of images that the file does not mention."""

    def regions(self, index: int) -> Regions:
        found = self.table.regions(index, lambda row: (0, 0))
        assert found.boxes is not None and found.box_labels is not None
        return Regions.of_boxes(found.boxes[: self.most], found.box_labels[: self.most])

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.source.fingerprint().encode())
        digest.update(repr(self.most).encode())
        for values in (self.table.ends, self.table.boxes):
            digest.update(np.ascontiguousarray(values).data)
        return digest.hexdigest()

    def _read(self) -> tuple[BoxTable, int]:
        count = len(self.source)
        rows = {self.source.identity(index): index for index in range(count)}
        reader, scores = BoxReader(CLASSES), array("f")
        mentioned = np.zeros(count, dtype=np.bool_)
        sizes: dict[int, tuple[int, int]] = {}
        elsewhere: set[str] = set()
        example = None
        for line, values in read_columns(self.path, COLUMNS):
            if not values:
                reader.leave_out(f"{self.path.name} line {line}", "the row is cut off")
                continue
            image, width, height, score, *box = values
            example = example or image
            row = rows.get(image)
            if row is None:
                elsewhere.add(image)
                continue
            mentioned[row] = True
            size = _size(height, width)
            if size is None or (any(box) and _number(score) is None):
                reader.leave_out(image, f"line {line} has a size or score that is not a number")
                continue
            if len(sizes) < _CHECKED:
                sizes[row] = size
            if any(box) and reader.add(row, image, CLASSES[0], box, size):
                scores.append(float(score))
        if not mentioned.any():
            raise UsageError(
                f"{self.path} is for other data: none of the {count} images is in it; it is for "
                f"images such as {example or 'none at all'}, not {self.source.identity(0)}"
            )
        self._check_sizes(sizes)
        self.elsewhere = len(elsewhere)
        self.left_out = (*self.left_out, *reader.left_out)
        return reader.table(count, str(self.path), scores), int(count - mentioned.sum())

    def _check_sizes(self, sizes: dict[int, tuple[int, int]]) -> None:
        for row, (height, width) in sizes.items():
            try:
                image = self.source.image(row)
            except BadImageError:
                continue
            if (image.height, image.width) != (height, width):
                raise UsageError(
                    f"{self.path} is for other images: {self.source.identity(row)} is {width} × "
                    f"{height} pixels there, and {image.width} × {image.height} here"
                )


def proposals_file(where: str | Path) -> Path:
    """The file of proposals at a path; `UsageError` if there is none, or if it is not finished."""
    path = Path(where).expanduser()
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        unfinished = path.is_dir() and (path / "unshortcut.json").is_file()
        what = "is not finished; run the command that makes it again" if unfinished else "has none"
        raise UsageError(
            f"there are no proposals at {where}, which {what}"
            if path.is_dir()
            else f"there are no proposals at {where}; `unshortcut propose` makes them"
        )
    return file


def elsewhere_note(source: ImageSource) -> str | None:
    """A sentence about images that only the file of proposals has, if there are any."""
    if not isinstance(source, WithProposals) or not source.elsewhere:
        return None
    return (
        f"{source.path.name} is also for {source.elsewhere} images that are not in these data; "
        "their boxes are not used"
    )


def left_out_note(left_out: tuple[Failure, ...]) -> str | None:
    """A sentence about boxes that cannot be used, if there are any."""
    if not left_out:
        return None
    first = left_out[0]
    return f"{len(left_out)} boxes cannot be used, such as that of {first.identity}: {first.reason}"


def _size(height: str, width: str) -> tuple[int, int] | None:
    try:
        return int(height), int(width)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
