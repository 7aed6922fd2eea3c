"""Pillow's point operations and affine maps on uint8 (h, w, 3) images: what RandAugment draws from.

Pillow itself, and not OpenCV, where its arithmetic is the definition that everybody shares.
"""

import cv2
import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from unshortcut.arrays import ImageArray

Fill = tuple[int, int, int]
"""The color of what an image is moved away from."""


def autocontrast(image: ImageArray) -> ImageArray:
    """Each channel stretched to 0 to 255."""
    return np.array(ImageOps.autocontrast(Image.fromarray(image)))


def equalize(image: ImageArray) -> ImageArray:
    """Each channel with a histogram as flat as can be."""
    return np.array(ImageOps.equalize(Image.fromarray(image)))


def invert(image: ImageArray) -> ImageArray:
    """255 minus the image."""
    return np.asarray(255 - image, dtype=np.uint8)


def posterize(image: ImageArray, bits: int) -> ImageArray:
    """The first `bits` of the 8 of every sample; 0 bits leave black."""
    return np.asarray(image & np.uint8(256 - 2 ** (8 - bits)), dtype=np.uint8)


def solarize_add(image: ImageArray, amount: int, threshold: int = 128) -> ImageArray:
    """`amount` more, at most 255, in samples below the threshold."""
    levels = np.arange(256)
    table = np.where(levels < threshold, np.minimum(levels + amount, 255), levels).astype(np.uint8)
    return np.asarray(cv2.LUT(np.ascontiguousarray(image), table), dtype=np.uint8)


def sharpen(image: ImageArray, amount: float) -> ImageArray:
    """Amount 1 changes nothing, 0 is a little smooth, 2 is sharp."""
    return np.array(ImageEnhance.Sharpness(Image.fromarray(image)).enhance(amount))


def rotate(image: ImageArray, degrees: float, fill: Fill, *, cubic: bool = False) -> ImageArray:
    """Rotated counter-clockwise about the center."""
    turned = Image.fromarray(image).rotate(degrees, _filter(cubic), fillcolor=fill)
    return np.array(turned)


def affine(
    image: ImageArray,
    fill: Fill,
    *,
    shear_x: float = 0.0,
    shear_y: float = 0.0,
    shift_x: float = 0.0,
    shift_y: float = 0.0,
    cubic: bool = False,
) -> ImageArray:
    """What was at (x + shear_x · y + shift_x, shear_y · x + y + shift_y) comes to (x, y)."""
    picture = Image.fromarray(image)
    data = (1, shear_x, shift_x, shear_y, 1, shift_y)
    moved = picture.transform(
        picture.size, Image.Transform.AFFINE, data, _filter(cubic), fillcolor=fill
    )
    return np.array(moved)


def _filter(cubic: bool) -> Image.Resampling:
    return Image.Resampling.BICUBIC if cubic else Image.Resampling.BILINEAR
