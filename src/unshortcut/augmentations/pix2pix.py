"""Filters images with a generator that a Pix2Pix run has trained, at random."""

from pathlib import Path
from typing import ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import RandomlyApplied
from unshortcut.errors import UsageError
from unshortcut.fields import Probability
from unshortcut.parts import settings
from unshortcut.translation.trained import load_generator


@settings
class GeneratorFilterSettings:
    """Settings that this augmentation shares with an operation on data sets."""

    name: ClassVar[str]

    weights: str = ""
    """The folder of a Pix2Pix run, or its file `generator.safetensors`."""

    def __post_init__(self) -> None:
        if self.weights:
            # Workers on a cluster start in other folders, so paths must be absolute.
            object.__setattr__(self, "weights", str(Path(self.weights).expanduser().absolute()))

    def change(self, image: ImageArray) -> ImageArray:
        """The filtered image; the generator is loaded once per process."""
        self.check()
        return load_generator(self.weights)(image)

    def check(self) -> None:
        """Raise `UsageError` without weights."""
        if not self.weights:
            raise UsageError(
                f"{self.name}: 'weights' is missing: give the folder of a Pix2Pix run, such as one "
                "of `unshortcut pretrain pix2pix-photos`"
            )


@settings
class GeneratorFilter(GeneratorFilterSettings, RandomlyApplied):
    """With probability p, the image as the generator of a Pix2Pix run changes it."""

    name = "pix2pix"

    p: Probability = 0.5
