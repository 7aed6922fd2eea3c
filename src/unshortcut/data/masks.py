"""Masks in files: the class of each pixel as the index of a palette or as a gray value."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
import PIL.Image
from numpy.typing import NDArray

from unshortcut.arrays import IndexArray
from unshortcut.data.encoded import Names
from unshortcut.data.files import files_digest, read_file, times_digest
from unshortcut.data.regions import IGNORED, MaskArray
from unshortcut.data.source import BadImageError

EXTENSIONS = ("png", "bmp", "tif", "tiff", "gif")
"""Formats that keep every value; a JPEG would not."""
_FORMATS = ("PNG", "BMP", "TIFF", "GIF")
_IDS = 256


class MaskFiles:
    """The masks of N images in files, read when they are asked for.

    Args:
        root: folder of the files.
        names: path of each file below it.
        numbers: the class of each id that a file may contain; the classes are numbered from 0, and
            `IGNORED` stands for ids that do not count.
    """

    def __init__(self, root: Path, names: Sequence[str], numbers: Mapping[int, int]) -> None:
        self.root = root
        self.names = Names(names)
        self.numbers: NDArray[np.uint8] = np.full(_IDS, IGNORED, dtype=np.uint8)
        self.known: NDArray[np.bool_] = np.zeros(_IDS, dtype=np.bool_)
        for one, number in numbers.items():
            self.numbers[one], self.known[one] = number, True

    def read(self, index: int) -> MaskArray:
        """The mask of an image, (h, w). Raises `BadImageError`."""
        ids = read_ids(self.root / self.names[index])
        if not cv2.LUT(ids, self.known.view(np.uint8)).all():
            strange = np.flatnonzero(count_ids(ids) * ~self.known)[0]
            raise BadImageError(f"its mask has the id {strange}, which no class has")
        return np.asarray(cv2.LUT(ids, self.numbers), dtype=np.uint8)

    def take(self, indices: IndexArray) -> "MaskFiles":
        """The masks of some images, in the given order."""
        names = [self.names[int(index)] for index in indices]
        kept = np.flatnonzero(self.known)
        return MaskFiles(self.root, names, {int(one): int(self.numbers[one]) for one in kept})

    def fingerprint(self) -> str:
        """A digest of the files and of what their ids mean."""
        digest = hashlib.sha256(self.numbers.tobytes() + self.known.tobytes())
        digest.update(files_digest(self.root, self.names).encode())
        return digest.hexdigest()

    def modification_times(self) -> str:
        """As for an image source."""
        return times_digest(self.root / self.names[index] for index in range(len(self.names)))


def read_ids(path: Path) -> MaskArray:
    """The id of each pixel of a mask as its file has it, (h, w). Raises `BadImageError`."""
    try:
        content = read_file(path)
    except BadImageError as error:
        raise BadImageError(f"its mask {error}") from None
    try:
        image = PIL.Image.open(io.BytesIO(content), formats=_FORMATS)
        image.load()
        ids = np.asarray(image)
    except Exception as error:  # arbitrary bytes can make a decoder fail in any way
        raise BadImageError(f"its mask cannot be read: {error}".split("\n")[0]) from None
    if ids.ndim != 2 or ids.dtype.kind == "f":
        raise BadImageError("its mask is a color image, which has no class for each pixel")
    if ids.dtype != np.uint8:
        if ids.min() < 0 or ids.max() >= _IDS:
            raise BadImageError(f"its mask has ids beyond {_IDS - 1}")
        ids = ids.astype(np.uint8)
    return np.ascontiguousarray(ids)


def count_ids(ids: MaskArray) -> IndexArray:
    """(256,): number of pixels of each id."""
    return np.bincount(ids.reshape(-1), minlength=_IDS)
