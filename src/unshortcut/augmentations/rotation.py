"""A quarter, half or three-quarter turn at random, as in leave-one-out contrast (LooC, sec. 4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations._settings import check_probability
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.errors import UsageError
from unshortcut.imaging.geometry import rotate90


@dataclass(frozen=True)
class Rotation(Augmentation):
    """With probability p, one of the angles, counter-clockwise, each as likely."""

    name: ClassVar[str] = "rotation"

    angles: tuple[int, ...] = (90, 180, 270)
    p: float = 0.5

    def __post_init__(self) -> None:
        check_probability(self.name, self.p)
        valid = isinstance(self.angles, list | tuple) and len(self.angles) > 0
        if not valid or any(angle not in (90, 180, 270) for angle in self.angles):
            raise UsageError(f"rotation.angles must be some of 90, 180, 270, not {self.angles!r}")
        object.__setattr__(self, "angles", tuple(self.angles))

    def sample(self, rng: np.random.Generator, height: int, width: int) -> int | None:
        """The angle in degrees."""
        chance, place = rng.random(2).tolist()
        return self.angles[int(place * len(self.angles))] if chance < self.p else None

    def apply(self, image: ImageArray, params: int | None) -> ImageArray:
        return image if params is None else rotate90(image, params // 90)

    def output_size(self, params: int | None, height: int, width: int) -> tuple[int, int]:
        return (width, height) if params in (90, 270) else (height, width)
