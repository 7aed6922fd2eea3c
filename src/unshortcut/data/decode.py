"""From the bytes of a file to RGB pixels: JPEG through libjpeg-turbo, the rest through Pillow."""

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import PIL.Image
import PIL.ImageOps
import simplejpeg

from unshortcut.arrays import ImageArray, IndexArray
from unshortcut.data.jpeg import is_jpeg, jpeg_header
from unshortcut.data.source import BadImageError

MAX_PIXELS = 178_956_970
"""Images with more pixels are refused as decompression bombs, as Pillow does."""

# Not all that Pillow can open: some formats start other programs.
_FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "JPEG2000", "AVIF")
_ORIENTATION, _IMAGE_WIDTH, _IMAGE_LENGTH = 0x0112, 0x0100, 0x0101


def quieten_pillow() -> None:
    """Hide Pillow's warnings; a bad image has an error of its own.

    This is done once per process: threads that changed and restored the filters around each image
    would interfere with each other.
    """
    warnings.filterwarnings("ignore", module=r"PIL\.|unshortcut\.data\.decode")


quieten_pillow()


class EncodedImage:
    """An image in the bytes of its file; the constructor reads only the header.

    Raises `BadImageError`, with a short reason, if the bytes cannot be read as RGB.
    """

    def __init__(self, data: bytes) -> None:
        if not data:
            raise BadImageError("the file is empty")
        self.data = data
        """The bytes of the file."""
        header = jpeg_header(data) if is_jpeg(data) else None
        if header is not None:
            width, height, self._orientation = header.width, header.height, header.orientation
        else:
            width, height, self._orientation = _pillow_header(data)
        # Four components are CMYK, which only Pillow converts.
        self._turbo = header is not None and header.components in (1, 3)
        if width < 1 or height < 1:
            raise BadImageError(f"the image has no pixels ({width} × {height})")
        if width * height > MAX_PIXELS:
            raise BadImageError(f"the image is too large ({width} × {height} pixels)")
        if self._orientation >= 5:
            width, height = height, width
        self.height, self.width = height, width

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        """Upright RGB, uint8 (h, w, 3); a JPEG is decoded 2, 4 or 8 times smaller on request."""
        if self._turbo:
            try:
                return _upright(_decode_turbo(self.data, shrink), self._orientation)
            except ValueError:
                # libjpeg-turbo stops at mere warnings; Pillow decides whether a file is broken.
                pass
        return _upright(_decode_pillow(self.data), self._orientation)


def _decode_turbo(data: bytes, shrink: float) -> ImageArray:
    """Decode a JPEG, scaled in the frequency domain; sizes are rounded up."""
    # For other factors libjpeg-turbo has no vector code and takes longer than for the full size.
    factor = next((factor for factor in (8, 4, 2) if shrink >= factor), 1)
    height, width, _, _ = simplejpeg.decode_jpeg_header(data)
    pixels = simplejpeg.decode_jpeg(
        data, "RGB", min_height=math.ceil(height / factor), min_width=math.ceil(width / factor)
    )
    return np.asarray(pixels, dtype=np.uint8)


def pillow_to_rgb(image: PIL.Image.Image) -> ImageArray:
    """An image that Pillow has opened as upright RGB, uint8 (h, w, 3)."""
    with _refusing():
        return _to_rgb(PIL.ImageOps.exif_transpose(image))


def pillow_header(data: bytes) -> PIL.Image.Image:
    """The image of a file as Pillow opens it: its header is read, its pixels are not decoded."""
    with _refusing():
        return PIL.Image.open(io.BytesIO(data), formats=_formats())


def _decode_pillow(data: bytes) -> ImageArray:
    with _refusing():
        return _to_rgb(PIL.Image.open(io.BytesIO(data), formats=_formats()))


def _to_rgb(image: PIL.Image.Image) -> ImageArray:
    image.load()
    if image.mode == "F":
        raise BadImageError("floating-point samples have no defined range")
    if image.mode.startswith("I"):
        return _from_16_bits(np.asarray(image).astype(np.int64))
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = PIL.Image.new("RGBA", layer.size, (255, 255, 255, 255))
        return np.array(PIL.Image.alpha_composite(white, layer).convert("RGB"))
    return np.array(image.convert("RGB"))


def _from_16_bits(levels: IndexArray) -> ImageArray:
    """Gray (h, w) from 0 to 65535 as 8-bit RGB; Pillow itself would clip at 255."""
    if levels.min() < 0 or levels.max() > 65535:
        raise BadImageError("32-bit samples have no defined range")
    gray = ((levels + 128) // 257).astype(np.uint8)
    return np.repeat(gray[:, :, None], 3, axis=2)


def _pillow_header(data: bytes) -> tuple[int, int, int]:
    """Width and height as stored, and the orientation to undo after decoding."""
    with _refusing():
        image = PIL.Image.open(io.BytesIO(data), formats=_formats())
        if image.format == "TIFF":
            # Pillow applies the orientation of a TIFF itself.
            tags = image.getexif()
            swapped = tags.get(_ORIENTATION) in (5, 6, 7, 8)
            width, height = int(tags[_IMAGE_WIDTH]), int(tags[_IMAGE_LENGTH])
            return (height, width, 1) if swapped else (width, height, 1)
        # Without EXIF in the header, `getexif` would decode all of a PNG.
        orientation = image.getexif().get(_ORIENTATION, 1) if "exif" in image.info else 1
        return image.width, image.height, orientation if orientation in range(1, 9) else 1


@cache
def _formats() -> list[str]:
    """Those of `_FORMATS` that this build of Pillow reads."""
    PIL.Image.init()
    return [name for name in _FORMATS if name in PIL.Image.OPEN]


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn any error of a decoder into `BadImageError`."""
    try:
        yield
    except BadImageError:
        raise
    except PIL.Image.DecompressionBombError:
        raise BadImageError("the image is too large") from None
    except PIL.UnidentifiedImageError:
        raise BadImageError("not an image in a known format") from None
    except Exception as error:
        # Arbitrary bytes can make a decoder fail in any way.
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise BadImageError(reason) from error


def _upright(pixels: ImageArray, orientation: int) -> ImageArray:
    """Undo an EXIF orientation (1 to 8): 5 to 8 swap rows and columns, then flips follow."""
    if orientation == 1:
        return pixels
    if orientation >= 5:
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)
