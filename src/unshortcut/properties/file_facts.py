"""What a file says about itself, without a look at its pixels."""

from typing import NamedTuple

import PIL.Image

from unshortcut.data.decode import pillow_header
from unshortcut.data.jpeg import is_jpeg
from unshortcut.properties.jpeg_file import JpegFile, jpeg_file

_MAKE, _MODEL, _SOFTWARE = 0x010F, 0x0110, 0x0131


class FileFacts(NamedTuple):
    """Facts about one image file."""

    bytes: int
    format: str
    jpeg: JpegFile | None
    has_exif: bool
    camera: str
    """Maker and model as in the EXIF block; empty if it names none."""
    software: str
    """The program that wrote the file, as far as it says so."""


def file_facts(data: bytes) -> FileFacts:
    """Read the facts from the bytes of a file. Raises `BadImageError`."""
    if is_jpeg(data):
        jpeg = jpeg_file(data)
        return FileFacts(len(data), "JPEG", jpeg, bool(jpeg.exif), *_names(jpeg.exif))
    header = pillow_header(data)
    block = header.info.get("exif") or b""
    block = block if isinstance(block, bytes) else b""
    camera, software = _names(block)
    text = header.info.get("Software") or header.info.get("software")  # PNG and GIF
    software = software or (text.strip() if isinstance(text, str) else "")
    return FileFacts(len(data), header.format or "", None, bool(block), camera, software)


def _names(exif: bytes) -> tuple[str, str]:
    """Camera and software in an EXIF block; empty where it is broken."""
    if not exif:
        return "", ""
    tags = PIL.Image.Exif()
    try:
        tags.load(exif)
        make, model, software = (_text(tags.get(tag)) for tag in (_MAKE, _MODEL, _SOFTWARE))
    except Exception:  # a stranger's bytes can make the parser fail in any way
        return "", ""
    camera = model if model.startswith(make) else f"{make} {model}"
    return camera.strip(), software


def _text(value: object) -> str:
    return value.strip("\x00 ") if isinstance(value, str) else ""
