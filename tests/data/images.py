"""Small image trees for the tests of data sources: content that a test can tell apart."""

import io
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image


def png(value: int, height: int = 6, width: int = 8) -> bytes:
    """A PNG of one gray value: lossless, so that a test knows every pixel."""
    buffer = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), value, dtype=np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def write_tree(root: Path, names: Iterable[str]) -> dict[str, int]:
    """Write a PNG for each name; returns the gray value of each."""
    values = {name: 10 + i for i, name in enumerate(names)}
    for name, value in values.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(value))
    return values


def write_tar(path: Path, members: Mapping[str, bytes]) -> Path:
    """Write a tar file of regular members, in the given order."""
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def write_mask(path: Path, ids: list[list[int]], palette: bool = False) -> None:
    """Write a mask as a PNG, with gray values or with a palette of colors."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(np.array(ids, dtype=np.uint8))
    if palette:
        colors = np.random.default_rng(0).integers(256, size=768).tolist()
        image = Image.frombytes("P", image.size, image.tobytes())
        image.putpalette(colors)
    image.save(path)
