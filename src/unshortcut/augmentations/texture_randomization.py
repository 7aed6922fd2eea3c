"""Replaces the texture of the image and keeps its shapes: the texture randomization of LooC.

LooC stylizes images by neural style transfer (Gatys et al.; Geirhos et al.). Here the texture of a
style image is transferred without a network (`imaging.transfer`), or by AdaIN with given weights.
"""

from functools import lru_cache
from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.open import open_data
from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.errors import UsageError
from unshortcut.fields import Probability
from unshortcut.imaging.adain import AdaIN, load_adain
from unshortcut.imaging.geometry import allowed_shrink
from unshortcut.imaging.patterns import random_pattern
from unshortcut.imaging.transfer import fit_style, transfer_texture
from unshortcut.parts import settings
from unshortcut.randomness import Rng, generator

_TRIES = 10


@settings
class StyleSettings:
    """Settings that this augmentation shares with an operation on data sets."""

    name: ClassVar[str]

    strength: Probability = 1.0
    """From 0, which leaves the image unchanged, to 1, which replaces all of its texture."""
    styles: str | None = None
    """Style images: a folder, a tar file, shards or a data set; None for procedural patterns."""
    adain: str | None = None
    """A file of AdaIN weights; with it, AdaIN replaces the transfer without a network."""


@settings
class TextureRandomization(StyleSettings, Augmentation):
    """With probability p, transfers the texture of a random style image or random pattern."""

    name = "texture_randomization"

    p: Probability = 0.5

    def __post_init__(self) -> None:
        try:
            if self.styles is not None:
                _open_styles(self.styles)
            if self.adain is not None:
                _load_adain(self.adain)
        except UsageError as error:
            raise UsageError(f"{self.name}: {error}") from None

    def sample(self, rng: Rng, height: int, width: int) -> int | None:
        """The number of a style, which stands for the same style in every image and view."""
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
        """The style image with a number, uint8 (height, width, 3)."""
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
