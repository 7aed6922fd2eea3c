"""Texture transfer without a network: the shapes of one image with the texture of another.

A replacement for neural style transfer (Gatys et al. 2016, as used in Stylized-ImageNet and in
LooC's texture randomization) that needs no weights. It has three steps. Diffusion removes the
image's texture, which leaves edges and areas. These get the style's colors, by the linear map that
matches mean and covariance with the least change (Pitié and Kokaram 2007). Then the fine bands of
the style's Laplacian pyramid are added, shifted by an amount that depends on the lightness of the
area, so that the texture is discontinuous where a shape ends.
"""

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.imaging.diffusion import anisotropic_diffusion

_ITERATIONS, _KAPPA, _GAMMA = 15, 30.0, 0.2
_BANDS = 1 / 16
"""The coarsest structure of the style that counts as texture, relative to the shorter side."""
_SHIFT = 0.5
"""How far the style is shifted between black and white, relative to the shorter side."""
_GAIN = 0.9
_CONTRAST = (30.0, 60.0)
"""Range of the standard deviation of lightness of the areas, so that neither they nor the texture
become invisible."""
_LIGHTNESS = (60.0, 195.0)
"""Range of the result's mean lightness: in a black or white style, shapes would be invisible."""
_FLOOR = 40.0
"""Added to variances, so that faint hues are not amplified."""
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def transfer_texture(image: ImageArray, style: ImageArray, *, strength: float = 1.0) -> ImageArray:
    """Replace the texture of an image by that of a style; uint8 (h, w, 3).

    The style may have any size; see `fit_style`. `strength` interpolates between the image (0) and
    the image with its texture replaced (1).
    """
    structure = anisotropic_diffusion(image, iterations=_ITERATIONS, kappa=_KAPPA, gamma=_GAMMA)
    out = overlay_texture(np.asarray(structure, np.uint8), style)
    if strength < 1:
        out = cv2.addWeighted(out, strength, image, 1 - strength, 0.0)
    return np.asarray(out, np.uint8)


def overlay_texture(structure: ImageArray, style: ImageArray) -> ImageArray:
    """Apply the colors and the texture of a style to an image without texture."""
    fitted = fit_style(style, *structure.shape[:2])
    areas = _recolored(structure, fitted)
    return np.clip(areas + _texture(fitted, areas) + np.float32(0.5), 0, 255).astype(np.uint8)


def fit_style(style: ImageArray, height: int, width: int) -> ImageArray:
    """Fit a style image to height × width.

    A larger one is reduced until it just covers that size, and cropped to its center; a smaller one
    is padded by reflection.
    """
    scale = max(height / style.shape[0], width / style.shape[1])
    if scale < 1:
        rows, columns = round(style.shape[0] * scale), round(style.shape[1] * scale)
        style = cv2.resize(
            style, (max(columns, width), max(rows, height)), interpolation=cv2.INTER_AREA
        )
    top, left = max(0, style.shape[0] - height) // 2, max(0, style.shape[1] - width) // 2
    style = style[top : top + height, left : left + width]
    missing = ((0, height - style.shape[0]), (0, width - style.shape[1]), (0, 0))
    return np.pad(style, missing, mode="symmetric")


def _recolored(structure: ImageArray, style: ImageArray) -> FloatArray:
    """Give the structure the style's mean color and covariance, within limits of lightness."""
    mean, covariance = _statistics(structure)
    style_mean, style_covariance = _statistics(style)
    light = float(_LUMA @ style_mean)
    style_mean += np.clip(light, *_LIGHTNESS) - light
    contrast = float(np.sqrt(_LUMA @ style_covariance @ _LUMA))
    # Missing contrast is added to all channels equally, which changes no hue.
    style_covariance += max(0.0, _CONTRAST[0] ** 2 - contrast**2)
    style_covariance *= min(1.0, _CONTRAST[1] / contrast) ** 2
    root = _root(covariance)
    inverse = np.linalg.inv(root)
    matrix = inverse @ _root(root @ style_covariance @ root) @ inverse
    affine = np.concatenate([matrix, (style_mean - matrix @ mean)[:, None]], axis=1)
    return np.asarray(cv2.transform(structure.astype(np.float32), affine), np.float32)


def _texture(style: ImageArray, areas: FloatArray) -> FloatArray:
    """The style's fine bands with uniform contrast, shifted by the lightness of the areas."""
    height, width = style.shape[:2]
    side = min(height, width)
    sigma = max(1.0, side * _BANDS)
    fine = style.astype(np.float32)
    fine -= _blurred(fine, sigma)
    power = _blurred(cv2.transform(fine * fine, _LUMA[None]), 2 * sigma)
    fine *= np.sqrt(_GAIN**2 * power.mean() / (power + 1.0))[..., None]
    shift = cv2.transform(areas, _LUMA[None] * (_SHIFT * side / 255))
    y = np.arange(height, dtype=np.float32)[:, None] + shift
    x = np.arange(width, dtype=np.float32) - shift
    return np.asarray(cv2.remap(fine, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT))


def _blurred(image: FloatArray, sigma: float) -> FloatArray:
    """A wide blur, computed on a reduced image: the coarse part of its Laplacian pyramid."""
    step = max(1, int(sigma / 2))
    small = (max(1, image.shape[1] // step), max(1, image.shape[0] // step))
    reduced = cv2.resize(image, small, interpolation=cv2.INTER_AREA)
    reduced = cv2.GaussianBlur(reduced, (0, 0), sigma / step, borderType=cv2.BORDER_REFLECT)
    whole = (image.shape[1], image.shape[0])
    return np.asarray(cv2.resize(reduced, whole, interpolation=cv2.INTER_LINEAR), np.float32)


def _statistics(image: ImageArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean color (3,) and covariance (3, 3), which is invertible even for a uniform image."""
    sums, products = _moments(np.ascontiguousarray(image).reshape(-1, 3))
    count = image.size / 3
    mean = sums / count
    return mean, products / count - np.outer(mean, mean) + _FLOOR * np.eye(3)


@njit(cache=True, nogil=True)
def _moments(pixels):  # type: ignore[no-untyped-def]
    """Sums (3,) and sums of products (3, 3) of uint8 (n, 3); as integers they are exact."""
    red = green = blue = 0
    rr = gg = bb = rg = rb = gb = 0
    for i in range(pixels.shape[0]):
        r, g, b = int(pixels[i, 0]), int(pixels[i, 1]), int(pixels[i, 2])
        red, green, blue = red + r, green + g, blue + b
        rr, gg, bb = rr + r * r, gg + g * g, bb + b * b
        rg, rb, gb = rg + r * g, rb + r * b, gb + g * b
    sums = np.array([red, green, blue], np.float64)
    return sums, np.array([[rr, rg, rb], [rg, gg, gb], [rb, gb, bb]], np.float64)


def _root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The symmetric square root."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 1e-6))) @ vectors.T)
