"""Encode images as JPEG or PNG, and check whether an existing file is complete."""

import os
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import simplejpeg

from unshortcut.arrays import ImageArray
from unshortcut.data.copies import Format, copy_name

OutputFormat = Literal["keep", "jpeg", "png"]
"""`keep` writes JPEG for JPEG and PNG for everything else."""

_PNG_LEVEL = 3
_JPEG_END = b"\xff\xd9"
_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"


def format_of(name: str, output: OutputFormat) -> Format:
    """The format of a file's copy, determined by the file's name alone."""
    if output != "keep":
        return output
    return "jpeg" if copy_name(name, "jpeg") == name else "png"


def encode(image: ImageArray, kind: Format, quality: int) -> bytes:
    """Encode a uint8 (h, w, 3) image; `quality`, 1 to 100, applies to JPEG.

    JPEG keeps color at full resolution (4:4:4), because the copies are about edges: chroma
    subsampling would triple the largest errors and save only 21 % of the bytes.
    """
    if kind == "jpeg":
        pixels = np.ascontiguousarray(image)
        encoded = simplejpeg.encode_jpeg(
            pixels, quality=quality, colorspace="RGB", colorsubsampling="444", fastdct=False
        )
        return bytes(encoded)
    done, content = cv2.imencode(
        ".png", image[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, _PNG_LEVEL]
    )
    if not done:
        raise ValueError("cannot be written as PNG")
    return bytes(content.tobytes())


def is_whole(path: str | Path) -> bool:
    """Whether a JPEG or PNG file written by `encode` exists and is complete.

    Copies are not synced to disk one by one, which would take longer than making them, so a power
    cut can truncate a file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        start = max(0, os.fstat(descriptor).st_size - len(_PNG_END))
        return os.pread(descriptor, len(_PNG_END), start).endswith((_JPEG_END, _PNG_END))
    except OSError:
        return False
    finally:
        os.close(descriptor)
