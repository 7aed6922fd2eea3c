"""Changes that give an image a chosen value of a property, and little else."""

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import PIL.Image
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import ArrayImage, DerivedSource, ImageSource
from unshortcut.properties.columns import NO_JPEG, Column
from unshortcut.properties.pixel_facts import BORDER, SIDE, pixel_facts

Values = NDArray[np.float64]
LOSSLESS = 100.0
"""The quality of files that are not JPEGs; images are then left as they are."""
_MOST_GAIN = 4.0
_FRAME = BORDER / SIDE
_STEPS = 6
"""Halvings in the search for a blur."""


@dataclass(frozen=True)
class Equalizer:
    """How a property is given a value.

    `towards` is where images are brought: to the median of all; where detail can be taken away but
    not added, to the median of the class with the lowest one; or to a given value.
    """

    apply: Callable[[ImageArray, float], ImageArray]
    towards: Literal["median", "lowest"] | float
    says: str
    """What is done, for the page; `{}` stands for the value."""

    def target(self, values: Values, labels: NDArray[np.int64]) -> float:
        """The common value, from the values (N,) and labels (N,) of images."""
        if isinstance(self.towards, float):
            return self.towards
        if self.towards == "median":
            return float(np.median(values))
        return min(float(np.median(values[labels == k])) for k in np.unique(labels))


class ChangedSource(DerivedSource):
    """The images of a source at full size, each after a change."""

    def __init__(
        self, source: ImageSource, change: Callable[[ImageArray, int], ImageArray] | None
    ) -> None:
        super().__init__(source)
        self.change = change

    def image(self, index: int) -> ArrayImage:
        pixels = super().image(index).pixels()
        return ArrayImage(pixels if self.change is None else self.change(pixels, index))

    def encoded(self, index: int) -> None:
        return None


def equalized_values(name: str, columns: dict[str, Column]) -> Values:
    """The values (N,) that images are equalized in: the property's own, or what it stands for."""
    if name in ("width", "height"):
        return np.minimum(columns["width"].values, columns["height"].values)
    if name in _ENCODING:
        qualities = columns["jpeg_quality"].values
        return np.where((qualities == NO_JPEG) | (qualities > LOSSLESS), LOSSLESS, qualities)
    return columns[name].values


def _encode(pixels: ImageArray, quality: float) -> ImageArray:
    if quality >= LOSSLESS:
        return pixels
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "JPEG", quality=max(1, round(quality)))
    return np.array(PIL.Image.open(file).convert("RGB"))


def _shrink(pixels: ImageArray, shorter: float) -> ImageArray:
    """Make the shorter side at most as long as given."""
    height, width = pixels.shape[:2]
    factor = shorter / min(height, width)
    if factor >= 1:
        return pixels
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _crop(pixels: ImageArray, aspect: float) -> ImageArray:
    """Crop the center to an aspect, log₂(width / height)."""
    height, width = pixels.shape[:2]
    ratio = 2.0**aspect
    new_width = min(width, max(1, round(height * ratio)))
    new_height = min(height, max(1, round(width / ratio)))
    top, left = (height - new_height) // 2, (width - new_width) // 2
    return np.ascontiguousarray(pixels[top : top + new_height, left : left + new_width])


def _gain(current: float, wanted: float) -> float:
    return float(np.clip(wanted / max(current, 1e-3), 1 / _MOST_GAIN, _MOST_GAIN))


def _rounded(values: NDArray[np.floating]) -> ImageArray:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def _gray(pixels: ImageArray) -> NDArray[np.float32]:
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    return np.asarray(gray, dtype=np.float32)


def _brighten(pixels: ImageArray, wanted: float) -> ImageArray:
    return _rounded(pixels * _gain(float(_gray(pixels).mean()) / 255, wanted))


def _stretch(pixels: ImageArray, wanted: float) -> ImageArray:
    gray = _gray(pixels)
    mean = float(gray.mean())
    return _rounded(mean + (pixels - mean) * _gain(float(gray.std()) / 255, wanted))


def _tint(channel: int) -> Callable[[ImageArray, float], ImageArray]:
    def apply(pixels: ImageArray, wanted: float) -> ImageArray:
        found = pixels.copy()
        own = pixels[:, :, channel]
        found[:, :, channel] = _rounded(own * _gain(float(own.mean()) / 255, wanted))
        return found

    return apply


def _saturate(pixels: ImageArray, wanted: float) -> ImageArray:
    high = pixels.max(axis=2).astype(np.float32)
    current = float(((high - pixels.min(axis=2)) / np.maximum(high, 1)).mean())
    gray = _gray(pixels)[:, :, None]
    return _rounded(gray + (pixels - gray) * (_gain(current, wanted) if current > 1e-3 else 1.0))


def _decolor(pixels: ImageArray, grayness: float) -> ImageArray:
    """Remove the color of the image if most pixels of the one to follow are gray."""
    if grayness < 0.5:
        return pixels
    return np.repeat(_gray(pixels).astype(np.uint8)[:, :, None], 3, axis=2)


def _blur(pixels: ImageArray, wanted: float) -> ImageArray:
    """Blur until the image at the size of measurement is no sharper than wanted."""
    side = min(pixels.shape[:2])

    def sharpness(image: ImageArray) -> float:
        small = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        return float(pixel_facts(np.asarray(small, dtype=np.uint8)).values[-1])

    def blurred(sigma: float) -> ImageArray:
        return np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma), dtype=np.uint8)

    if sharpness(pixels) <= wanted:
        return pixels
    low, high = math.log(side / 1000), math.log(side / 10)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if sharpness(blurred(math.exp(middle))) > wanted:
            low = middle
        else:
            high = middle
    return blurred(math.exp(high))


def _border(pixels: ImageArray, wanted: float, *, contrast: bool) -> ImageArray:
    """Change brightness or contrast of the border alone."""
    height, width = pixels.shape[:2]
    y, x = max(1, round(height * _FRAME)), max(1, round(width * _FRAME))
    inside = np.zeros((height, width), np.bool_)
    inside[y : height - y, x : width - x] = True
    frame = pixels[~inside]
    shade = _gray(pixels)[~inside]
    found = pixels.copy()
    if contrast:
        mean = float(shade.mean())
        found[~inside] = _rounded(mean + (frame - mean) * _gain(float(shade.std()) / 255, wanted))
    else:
        found[~inside] = _rounded(frame * _gain(float(shade.mean()) / 255, wanted))
    return found


_JPEG = Equalizer(_encode, "lowest", "encoded as JPEG at quality {}")
_SIZE = Equalizer(_shrink, "lowest", "resized to {} pixels on the shorter side, where larger")
_ENCODING = ("format", "jpeg_quality", "subsampling", "bytes_per_pixel")
EQUALIZERS: dict[str, Equalizer] = {
    **dict.fromkeys(_ENCODING, _JPEG),
    "width": _SIZE,
    "height": _SIZE,
    "aspect": Equalizer(_crop, "median", "cropped to an aspect of {}"),
    "brightness": Equalizer(_brighten, "median", "brought to a brightness of {}"),
    "contrast": Equalizer(_stretch, "median", "brought to a contrast of {}"),
    "red": Equalizer(_tint(0), "median", "brought to a mean of red of {}"),
    "green": Equalizer(_tint(1), "median", "brought to a mean of green of {}"),
    "blue": Equalizer(_tint(2), "median", "brought to a mean of blue of {}"),
    "saturation": Equalizer(_saturate, "median", "brought to a saturation of {}"),
    "grayness": Equalizer(_decolor, 1.0, "made gray"),
    "sharpness": Equalizer(_blur, "lowest", "blurred to a sharpness of {}, where sharper"),
    "border_brightness": Equalizer(
        lambda pixels, wanted: _border(pixels, wanted, contrast=False),
        "median",
        "with the border brought to a brightness of {}",
    ),
    "border_contrast": Equalizer(
        lambda pixels, wanted: _border(pixels, wanted, contrast=True),
        "median",
        "with the border brought to a contrast of {}",
    ),
}
"""By property; those that are missing do not show in the pixels, so that no model can use them."""
