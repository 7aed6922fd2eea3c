"""Textures synthesized from the images of a test set, which keep nothing of their shapes."""

import hashlib
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.arrays import ImageArray
from unshortcut.build.operations.texture import TextureOperation
from unshortcut.data.source import ArrayImage, BadImageError, ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import atomic_open, cache_folder
from unshortcut.progress import bar
from unshortcut.randomness import generator

IMAGES = 500
"""Number of textures per test set: synthesis is slow, and this resolves a few points."""
SIDE, PATCH = 224, 96
"""Sides of a texture and of its patches (NSN, section 2.2), scaled down for smaller images."""
_VERSION = 1  # raised when the same images would give other textures


class Textures(ImageSource):
    """Textures in memory, with the labels of the images that they were synthesized from."""

    def __init__(self, origin: ImageSource, indices: NDArray[np.int64], arrays: ImageArray) -> None:
        self.origin = origin
        self.indices = indices
        self.arrays = arrays
        """(N, side, side, 3)"""
        self.classes = origin.classes
        self.labels = None if origin.labels is None else origin.labels[indices]

    def __len__(self) -> int:
        return len(self.indices)

    def image(self, index: int) -> ArrayImage:
        return ArrayImage(self.arrays[index])

    def identity(self, index: int) -> str:
        return self.origin.identity(int(self.indices[index]))

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.indices.tobytes())
        digest.update(self.arrays.tobytes())
        return digest.hexdigest()


def textures_of(source: ImageSource, console: Console, *, count: int = IMAGES) -> Textures:
    """Textures of up to `count` images, balanced over classes; stored in the cache folder.

    Images that cannot be read are left out.
    """
    if source.labels is None:
        raise UsageError("the test data have no labels: give class folders")
    text = f"{_VERSION} {source.fingerprint()} {count}"
    name = hashlib.sha256(text.encode()).hexdigest()
    path = cache_folder() / "textures" / f"{name}.npz"
    known = _read(path)
    if known is None:
        known = _make(source, stratified(source.labels, count), console)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_open(path, shared=True) as file:
            np.savez_compressed(file, indices=known[0], arrays=known[1])
    return Textures(source, *known)


def stratified(labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Sorted indices of about `count` images, sampled evenly from the classes."""
    present = np.unique(labels)
    share = max(1, count // len(present))
    rng = generator("textures", "choice")
    chosen = [rng.permutation(np.flatnonzero(labels == label))[:share] for label in present]
    return np.sort(np.concatenate(chosen)).astype(np.int64)


def _make(
    source: ImageSource, indices: NDArray[np.int64], console: Console
) -> tuple[NDArray[np.int64], ImageArray]:
    made: dict[int, ImageArray] = {}
    with bar(console, "textures of the test images", unit="images") as advance:
        for done, index in enumerate(indices.tolist(), start=1):
            with suppress(BadImageError):
                made[index] = _texture(source, index)
            advance(done, len(indices))
    if not made:
        raise UsageError("none of the test images can be read")
    return np.array(list(made), dtype=np.int64), np.stack(list(made.values()))


def _texture(source: ImageSource, index: int) -> ImageArray:
    first, image = source.image(0), source.image(index)
    side = min(first.height, first.width, SIDE)
    patch = min(PATCH, round(PATCH / SIDE * min(image.height, image.width)))
    return TextureOperation(side, max(1, patch)).apply(image.pixels(), generator("textures", index))


def _read(path: Path) -> tuple[NDArray[np.int64], ImageArray] | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return stored["indices"], stored["arrays"]
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        return None
