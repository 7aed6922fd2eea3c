"""Another texture on the same shapes: LooC's texture randomization, here without a network.

LooC stylizes images by neural style transfer (Gatys et al.; Geirhos et al.). Here a style's
texture is laid over the image's structure (`imaging.transfer`), or AdaIN does it from a weights
file.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_number, check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.open import open_data
from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.errors import UsageError
from unshortcut.imaging.adain import AdaIN, load_adain
from unshortcut.imaging.geometry import allowed_shrink
from unshortcut.imaging.patterns import random_pattern
from unshortcut.imaging.transfer import fit_style, transfer_texture
from unshortcut.randomness import generator

_TRIES = 10


@dataclass(frozen=True)
class TextureRandomization(Augmentation):
    """With probability p, the texture of a random style image or of a random pattern."""

    name: ClassVar[str] = "texture_randomization"

    strength: float = 1.0
    """From 0, the image as it is, to 1, all of its texture replaced."""
    styles: str | None = None
    """Style images: a folder, a tar file, shards or a name; None for procedural patterns."""
    adain: str | None = None
    """A file of AdaIN weights, which then stylize instead of the transfer without a network."""
    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        check_number(self.name, "strength", self.strength, 0.0, 1.0)
        try:
            if self.styles is not None:
                _open_styles(self.styles)
            if self.adain is not None:
                _load_adain(self.adain)
        except UsageError as error:
            raise UsageError(f"{self.name}: {error}") from None

    def sample(self, rng: np.random.Generator, height: int, width: int) -> int | None:
        """The number of a style: it names the same style for every image and every view."""
        chance, style = rng.random(), int(rng.integers(2**62))
        return style if chance < self.p else None

    def apply(self, image: ImageArray, params: int | None) -> ImageArray:
        if params is None:
            return image
        style = self.style(params, *image.shape[:2])
        if self.adain is None:
            return transfer_texture(image, style, strength=self.strength)
        return _load_adain(self.adain).stylize(image, style, alpha=self.strength)

    def style(self, number: int, height: int, width: int) -> ImageArray:
        """The style image of a number, uint8 (height, width, 3)."""
        rng = generator(number, "style")
        if self.styles is None:
            return random_pattern(rng, height, width)
        source = _open_styles(self.styles)
        for _ in range(_TRIES):
            try:
                image = source.image(int(rng.integers(len(source))))
                shrink = allowed_shrink(image.height, image.width, height, width)
                return fit_style(image.pixels(shrink), height, width)
            except BadImageError:
                continue
        raise UsageError(
            f"{self.name}.styles: {_TRIES} images in a row of '{self.styles}' cannot be read"
        )


@lru_cache(maxsize=8)
def _open_styles(spec: str) -> ImageSource:
    return open_data(spec)


@lru_cache(maxsize=2)
def _load_adain(path: str) -> AdaIN:
    return load_adain(path)
