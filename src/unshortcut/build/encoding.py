"""From pixels to the bytes of a file, and whether a file that lies there is whole."""

import os
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import simplejpeg

from unshortcut.arrays import ImageArray
from unshortcut.data.copies import Format, copy_name

Wanted = Literal["keep", "jpeg", "png"]
"""What a user asks for; `keep` leaves JPEG as JPEG and makes PNG of everything else."""

_PNG_LEVEL = 3
_JPEG_END = b"\xff\xd9"
_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"


def format_of(name: str, wanted: Wanted) -> Format:
    """The format of the copy of a file, decided by the file's name alone."""
    if wanted != "keep":
        return wanted
    return "jpeg" if copy_name(name, "jpeg") == name else "png"


def encode(image: ImageArray, kind: Format, quality: int) -> bytes:
    """The file of a uint8 (h, w, 3) image; `quality`, 1 to 100, is JPEG's.

    JPEG keeps its color at full resolution (4:4:4): edges are what the copies are made for, and
    halving the color triples the largest errors, for 21 % fewer bytes.
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
    """Whether a JPEG or PNG file of ours is there up to its last byte.

    Copies are not synced to the disk one by one, which would take longer than making them; after
    a power cut a file can be shorter than it was written.
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
