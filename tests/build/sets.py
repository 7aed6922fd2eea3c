"""Small data sets to copy, and functions to compare copies."""

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from tests.data.images import write_tar


def picture(number: int, height: int = 40, width: int = 48) -> Image.Image:
    """A rough random picture, so that filters and codecs have something to do."""
    rng = np.random.default_rng(number)
    coarse = Image.fromarray(rng.integers(0, 256, (5, 6, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), np.int64)
    noisy = smooth + rng.integers(-25, 26, smooth.shape)
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def encoded(number: int, kind: str = "JPEG", height: int = 40, width: int = 48) -> bytes:
    buffer = io.BytesIO()
    picture(number, height, width).save(buffer, kind)
    return buffer.getvalue()


def write_tree(root: Path, names: Iterable[str], height: int = 40, width: int = 48) -> Path:
    """A folder with a picture for each name, encoded as the name says."""
    kinds = {".jpg": "JPEG", ".JPEG": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".png": "PNG"}
    for number, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(number, kinds.get(path.suffix, "JPEG"), height, width))
    return root


def plain_tree(root: Path, count: int, height: int = 40, width: int = 48) -> Path:
    """A folder of `count` JPEGs in two splits and three classes."""
    names = [f"{('train', 'val')[i % 2]}/c{i % 3}/{i:03d}.jpg" for i in range(count)]
    return write_tree(root, names, height, width)


def write_shards(root: Path, shards: int, samples: int) -> str:
    """Shards of JPEGs with labels and captions; returns their pattern."""
    root.mkdir(parents=True)
    for shard in range(shards):
        members: dict[str, bytes] = {}
        for sample in range(samples):
            number = shard * samples + sample
            members[f"d/{number:04d}.jpg"] = encoded(number)
            members[f"d/{number:04d}.cls"] = str(number % 3).encode()
            members[f"d/{number:04d}.txt"] = f"a caption of {number}".encode()
        write_tar(root / f"s-{shard:02d}.tar", members)
    return f"{root}/s-{{00..{shards - 1:02d}}}.tar"


def digests(root: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder, hidden ones too; folders end in a slash."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_dir():
            found[f"{name}/"] = ""
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))
