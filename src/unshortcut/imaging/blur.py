"""Gaussian blur of uint8 (h, w, 3) images, with the result of Pillow's `ImageFilter.GaussianBlur`.

Pillow convolves three times with a box whose ends have a fractional weight (Gwosdek et al. 2011,
extended box filter). For the radii used by augmentations, the three boxes form one kernel of at
most 13 taps, which OpenCV applies twice as fast as its own `GaussianBlur`; for radii below 0.5, the
latter also differs from Pillow by up to 3 of 255.
"""

import math

import cv2
import numpy as np

from unshortcut.arrays import FloatArray, ImageArray

_PASSES = 3


def gaussian_blur(image: ImageArray, sigma: float, kernel_size: int | None = None) -> ImageArray:
    """Blur an image with standard deviation `sigma` in pixels; borders are replicated.

    With a `kernel_size` in pixels, odd, the Gaussian is cut off at that width and the image is
    reflected at its borders, which is OpenCV's `GaussianBlur` as several SimCLR codes use it.
    """
    if kernel_size is not None:
        return np.asarray(cv2.GaussianBlur(image, (kernel_size, kernel_size), sigma), np.uint8)
    kernel = box_kernel(sigma)
    blurred = cv2.sepFilter2D(image, -1, kernel, kernel, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(blurred, dtype=np.uint8)


def box_kernel(sigma: float) -> FloatArray:
    """(2 r + 1,) weights that sum to 1: the extended box filter, applied three times."""
    # A box of 2 m + 1 ones and two ends of weight `end`, with variance sigma² / 3.
    variance = sigma * sigma / _PASSES
    whole = math.floor((math.sqrt(12 * variance + 1) - 1) / 2)
    length = 2 * whole + 1
    end = length * (whole * (whole + 1) - 3 * variance) / (6 * (variance - (whole + 1) ** 2))
    box = np.array([end, *[1.0] * length, end]) / (length + 2 * end)
    kernel = np.ones(1)
    for _ in range(_PASSES):
        kernel = np.convolve(kernel, box)
    return kernel.astype(np.float32)
