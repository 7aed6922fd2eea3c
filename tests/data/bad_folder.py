"""A folder of awkward files, for tests of everything that reads images."""

import struct
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

EXIF_ORIENTATION = 0x0112
ROTATED_BY_A_QUARTER = 6


@dataclass(frozen=True)
class BadFolder:
    """Where the files are, and what is true of each; names are paths below `root`."""

    root: Path
    bad: frozenset[str]
    """Images by name that cannot be shown as RGB."""
    sizes: dict[str, tuple[int, int]]
    """(height, width), upright, of every file that can be shown."""
    ignored: frozenset[str]
    """Files that do not claim to be images."""


def make_bad_folder(root: Path, good: int = 60, side: int = 48) -> BadFolder:
    """Write all kinds of awkward files, and `good` plain JPEGs of side × side."""
    root.mkdir(parents=True, exist_ok=True)
    picture = _picture(side, side)
    jpeg = _encode(picture, "JPEG")

    shown: dict[str, tuple[bytes, tuple[int, int]]] = {
        f"good-{i:03d}.jpg": (_encode(_picture(side, side, i), "JPEG"), (side, side))
        for i in range(good)
    }
    square = (side, side)
    shown["cmyk.jpg"] = (_encode(picture.convert("CMYK"), "JPEG"), square)
    shown["gray.jpg"] = (_encode(picture.convert("L"), "JPEG"), square)
    shown["gray-16-bit.png"] = (_encode(_sixteen_bit(side), "PNG"), square)
    shown["rgb-16-bit.png"] = (_rgb_sixteen_bit(side), square)
    shown["rgba.png"] = (_encode(picture.convert("RGBA"), "PNG"), square)
    shown["palette.png"] = (_encode(picture.convert("P"), "PNG"), square)
    shown["animated.gif"] = (_animation(side, "GIF"), square)
    shown["animated.webp"] = (_animation(side, "WEBP"), square)
    shown["rotated.jpg"] = (_rotated(side), (2 * side, side))
    shown["one-pixel.png"] = (_encode(_picture(1, 1), "PNG"), (1, 1))
    shown["line.png"] = (_encode(_picture(1, 5000), "PNG"), (1, 5000))
    shown["upper-case.JPG"] = (jpeg, square)
    shown["png-inside.jpg"] = (_encode(picture, "PNG"), square)
    shown["no-extension"] = (jpeg, square)

    bad = {
        "broken.jpg": bytes(reversed(jpeg)),
        "broken-header.png": _encode(picture, "PNG")[:20],
        "truncated.jpg": _cut(_encode(_picture(8 * side, 8 * side), "JPEG")),
        "truncated.png": _cut(_encode(picture, "PNG")),
        "zero-byte.jpg": b"",
        "text.jpg": b"This is not an image, whatever its name says.\n" * 20,
        "bomb.png": _bomb(60_000),
    }
    ignored = {
        "notes.txt": b"nothing to see",
        "labels.csv": b"a,b\n",
        "README": b"no extension, no image",
        ".hidden.jpg": jpeg,
        "__MACOSX/good-000.jpg": jpeg,
    }
    contents = {name: content for name, (content, _) in shown.items()} | bad | ignored
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    sizes = {name: size for name, (_, size) in shown.items()}
    return BadFolder(root, frozenset(bad), sizes, frozenset(ignored))


def _picture(height: int, width: int, seed: int = 0) -> Image.Image:
    """A smooth random picture, so that codecs have something to do."""
    coarse = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


def _encode(image: Image.Image, kind: str, **settings: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **settings)
    return buffer.getvalue()


def _sixteen_bit(side: int) -> Image.Image:
    ramp = np.linspace(0, 65535, side * side).reshape(side, side)
    return Image.fromarray(ramp.astype(np.uint16))


def _rgb_sixteen_bit(side: int) -> bytes:
    """Pillow writes no 16-bit RGB, so the PNG is put together by hand."""
    ramp = np.linspace(0, 65535, side * side * 3).reshape(side, side * 3).astype(">u2")
    rows = b"".join(b"\0" + row.tobytes() for row in ramp)
    return _png(side, side, 16, zlib.compress(rows))


def _bomb(side: int) -> bytes:
    """A header that declares side × side pixels, and hardly any data."""
    return _png(side, side, 8, zlib.compress(b"\0" * 1000))


def _png(height: int, width: int, bits: int, data: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


def _animation(side: int, kind: str) -> bytes:
    frames = [_picture(side, side, seed) for seed in range(3)]
    return _encode(frames[0], kind, save_all=True, append_images=frames[1:], duration=50)


def _rotated(side: int) -> bytes:
    """Stored side × 2·side, to be shown turned by a quarter: 2·side × side."""
    exif = Image.Exif()
    exif[EXIF_ORIENTATION] = ROTATED_BY_A_QUARTER
    return _encode(_picture(side, 2 * side), "JPEG", exif=exif)


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]
