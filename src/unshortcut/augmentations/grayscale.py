"""Gray in all three channels at random: torchvision's `RandomGrayscale`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.imaging.color import gray
from unshortcut.augmentations.augmentation import Array, Augmentation
from unshortcut.augmentations._settings import check_probability


@dataclass(frozen=True)
class Grayscale(Augmentation):
    """With probability p, the luma in all three channels."""

    name: ClassVar[str] = "grayscale"

    p: float = 0.2

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: Array, params: bool | None) -> Array:
        return gray(image) if params else image
