"""Alternatives: the first augmentation of a list whose draw says that it is applied."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import AnyAugmentation, Augmentation

Choice = tuple[int, Any]
"""Which augmentation, and its parameters."""


@dataclass(frozen=True)
class FirstOf(Augmentation):
    """The first that is drawn: diffusion with p 0.5, otherwise blur with p 0.5, and so on.

    All of them draw, so that what one sampled does not depend on what another decided.
    """

    name: ClassVar[str] = "first_of"

    augmentations: tuple[AnyAugmentation, ...] = ()
    """Each with a probability of its own, in the order in which they are asked."""

    def sample(self, rng: np.random.Generator, height: int, width: int) -> Choice | None:
        sampled = [augmentation.sample(rng, height, width) for augmentation in self.augmentations]
        drawn = ((place, params) for place, params in enumerate(sampled) if params is not None)
        return next(drawn, None)

    def apply(self, image: ImageArray, params: Choice | None) -> ImageArray:
        if params is None:
            return image
        place, inner = params
        return self.augmentations[place].apply(image, inner)

    def output_size(self, params: Choice | None, height: int, width: int) -> tuple[int, int]:
        if params is None:
            return height, width
        place, inner = params
        return self.augmentations[place].output_size(inner, height, width)

    def shrink(self, params: Choice | None) -> float:
        return 1.0 if params is None else self.augmentations[params[0]].shrink(params[1])

    def copy(self, params: Choice | None) -> str | None:
        return None if params is None else self.augmentations[params[0]].copy(params[1])

    def copies(self) -> tuple[str, ...]:
        return tuple(copy for inner in self.augmentations for copy in inner.copies())
