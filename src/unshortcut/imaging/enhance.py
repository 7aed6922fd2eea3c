"""Pillow's point operations and affine maps on uint8 (h, w, 3) images, as used by RandAugment.

Pillow is called where its arithmetic is the common definition; OpenCV would give other results.
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps

from unshortcut.arrays import ImageArray

Fill = tuple[int, int, int]
"""The color of the area that becomes visible when an image is moved."""


def autocontrast(image: ImageArray) -> ImageArray:
    """Stretch each channel to 0..255."""
    return np.array(ImageOps.autocontrast(Image.fromarray(image)))


def equalize(image: ImageArray) -> ImageArray:
    """Equalize the histogram of each channel."""
    return np.array(ImageOps.equalize(Image.fromarray(image)))


def invert(image: ImageArray) -> ImageArray:
    """Invert all values: 255 minus the image."""
    return np.asarray(255 - image, dtype=np.uint8)


def posterize(image: ImageArray, bits: int) -> ImageArray:
    """Keep the first `bits` of the 8 bits of each value; with 0 bits the image is black."""
    return np.asarray(image & np.uint8(256 - 2 ** (8 - bits)), dtype=np.uint8)


def solarize_add(image: ImageArray, amount: int, threshold: int = 128) -> ImageArray:
    """Add `amount` to all values below the threshold, clipped to 255."""
    levels = np.arange(256)
    table = np.where(levels < threshold, np.minimum(levels + amount, 255), levels).astype(np.uint8)
    return np.asarray(cv2.LUT(np.ascontiguousarray(image), table), dtype=np.uint8)


def sharpen(image: ImageArray, amount: float) -> ImageArray:
    """Change sharpness: amount 1 changes nothing, 0 smooths a little, 2 sharpens."""
    return np.array(ImageEnhance.Sharpness(Image.fromarray(image)).enhance(amount))


def rotate(image: ImageArray, degrees: float, fill: Fill, *, cubic: bool = False) -> ImageArray:
    """Rotate counterclockwise around the center."""
    return np.array(Image.fromarray(image).rotate(degrees, _filter(cubic), fillcolor=fill))


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
    """Move the pixel at (x + shear_x · y + shift_x, shear_y · x + y + shift_y) to (x, y)."""
    picture = Image.fromarray(image)
    data = (1, shear_x, shift_x, shear_y, 1, shift_y)
    moved = picture.transform(
        picture.size, Image.Transform.AFFINE, data, _filter(cubic), fillcolor=fill
    )
    return np.array(moved)


def move_mask(mask: ImageArray, matrix: NDArray[np.float64], fill: int) -> ImageArray:
    """Move the pixel of a mask (h, w) at matrix · (x, y, 1) to (x, y), in continuous coordinates.

    A pixel takes the value of the nearest one, and `fill` outside of the mask.
    """
    picture = Image.fromarray(mask)
    data = matrix.ravel().tolist()
    moved = picture.transform(
        picture.size, Image.Transform.AFFINE, data, Image.Resampling.NEAREST, fillcolor=fill
    )
    return np.array(moved)


def rotation_matrix(degrees: float, height: int, width: int) -> NDArray[np.float64]:
    """(2, 3): where `rotate` takes the pixel at (x, y) of the result from, as (x, y, 1)."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turn = np.array([[cos, -sin], [sin, cos]])  # y points down
    center = np.array([width, height]) / 2
    return np.column_stack([turn, center - turn @ center])


def _filter(cubic: bool) -> Image.Resampling:
    return Image.Resampling.BICUBIC if cubic else Image.Resampling.BILINEAR
