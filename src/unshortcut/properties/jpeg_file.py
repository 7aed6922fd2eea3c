"""How a JPEG file was compressed: quantization tables, their quality, and chroma subsampling."""

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

# Table K.1 of the JPEG standard (ITU-T T.81), which the IJG's library scales by the quality.
_LUMINANCE = (
    16, 11, 10, 16, 24, 40, 51, 61,
    12, 12, 14, 19, 26, 58, 60, 55,
    14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62,
    18, 22, 37, 56, 68, 109, 103, 77,
    24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
)  # fmt: skip
_NEAR = 1.0
"""Mean difference per entry up to which a table counts as a standard one, rounded differently."""
_EXIF = b"Exif\x00\x00"
_FRAMES = (0xC0, 0xC1, 0xC2)
_TABLES, _APP1, _START_OF_SCAN = 0xDB, 0xE1, 0xDA
_SUBSAMPLING = {
    (1, 1): "4:4:4", (2, 1): "4:2:2", (2, 2): "4:2:0", (1, 2): "4:4:0", (4, 1): "4:1:1",
}  # fmt: skip


@dataclass(frozen=True)
class JpegFile:
    """What the header of a JPEG file says about its compression."""

    quality: int | None
    """1 to 100, of the nearest standard table; None if no standard table is near."""
    table: str
    """Short hash of all quantization tables."""
    subsampling: str
    """Such as `4:2:0`; `gray` for an image without chroma."""
    exif: bytes
    """The EXIF block; empty if there is none."""


def jpeg_file(data: bytes) -> JpegFile:
    """Read the header of a JPEG file up to its first scan, as far as it can be understood."""
    tables: dict[int, bytes] = {}
    subsampling, exif = "", b""
    position, end = 2, len(data)
    while position + 4 <= end and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:
            position += 1
            continue
        if marker == _START_OF_SCAN:
            break
        length = (data[position + 2] << 8) | data[position + 3]
        segment = data[position + 4 : position + 2 + length]
        if marker == _TABLES:
            tables |= _tables(segment)
        elif marker in _FRAMES:
            subsampling = _subsampling(segment)
        elif marker == _APP1 and segment.startswith(_EXIF) and not exif:
            exif = segment
        position += 2 + length
    digest = hashlib.sha256(b"".join(tables[key] for key in sorted(tables))).hexdigest()[:8]
    return JpegFile(_quality(tables.get(0)), digest, subsampling, exif)


def standard_table(quality: int) -> NDArray[np.int64]:
    """The IJG's luminance table (64,) of a quality from 1 to 100, in natural order."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return np.clip((np.array(_LUMINANCE) * scale + 50) // 100, 1, 255)


def _tables(segment: bytes) -> dict[int, bytes]:
    """The tables of a segment by their number; entries of 16 bits are cut to 8."""
    found, position = {}, 0
    while position < len(segment):
        wide, number = segment[position] >> 4, segment[position] & 15
        size = 128 if wide else 64
        entries = segment[position + 1 : position + 1 + size]
        if len(entries) < size:
            break
        values = np.frombuffer(entries, ">u2" if wide else np.uint8)
        found[number] = np.minimum(values, 255).astype(np.uint8).tobytes()
        position += 1 + size
    return found


def _subsampling(frame: bytes) -> str:
    """How much coarser chroma is than luminance, from the sampling factors of a frame header."""
    components = frame[5] if len(frame) > 5 else 0
    factors = [(one >> 4, one & 15) for one in frame[7 : 6 + 3 * components : 3]]
    if components == 1:
        return "gray"
    if len(factors) < 3 or 0 in factors[1]:
        return ""
    (width, height), (chroma_width, chroma_height) = factors[:2]
    ratio = (width // chroma_width, height // chroma_height)
    return _SUBSAMPLING.get(ratio, f"{ratio[0]}×{ratio[1]}")


def _quality(table: bytes | None) -> int | None:
    """The quality of the nearest standard table."""
    if table is None:
        return None
    exact = _qualities().get(table)
    if exact is not None:
        return exact
    standard = np.array([np.frombuffer(one, np.uint8) for one in _qualities()], np.int64)
    distances = np.abs(standard - np.frombuffer(table, np.uint8)).mean(axis=1)
    nearest = int(distances.argmin())
    return list(_qualities().values())[nearest] if distances[nearest] <= _NEAR else None


@cache
def _qualities() -> dict[bytes, int]:
    """The quality of each standard table, whose entries are in zigzag order as in a file."""
    order = sorted(range(64), key=_zigzag)
    found = {}
    for quality in range(1, 101):
        found[standard_table(quality)[order].astype(np.uint8).tobytes()] = quality
    return found


def _zigzag(index: int) -> tuple[int, int]:
    """The place of an entry in zigzag order: diagonals, alternately upward and downward."""
    row, column = divmod(index, 8)
    return row + column, row if (row + column) % 2 else column
