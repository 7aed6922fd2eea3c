"""The base of augmentations, which sample parameters in one step and apply them in another.

The two steps are separate because leave-one-out views share sampled parameters between views.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.parts import PartOf


class Augmentation(ABC):
    """A class whose fields are its settings (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def sample(self, rng: np.random.Generator, height: int, width: int) -> Any:
        """Sample parameters for an image of height × width; None leaves the image unchanged."""

    @abstractmethod
    def apply(self, image: ImageArray, params: Any) -> ImageArray:
        """Apply sampled parameters to a uint8 (h, w, 3) image without changing the input."""

    def output_size(self, params: Any, height: int, width: int) -> tuple[int, int]:
        """Height and width of the image that `apply` returns."""
        return height, width

    def shrink(self, params: Any) -> float:
        """The factor by which the input of `apply` may be smaller than the full image.

        Only the first augmentation of a pipeline is asked. If it returns more than 1, its `apply`
        must accept an image that was decoded at a smaller size than `sample` was given.
        """
        return 1.0

    def copy(self, params: Any) -> str | None:
        """The copy of the data set that the view is to be made from, None for the image itself.

        It holds for the whole pipeline: the augmentations before this one see the copy too.
        """
        return None

    def copies(self) -> tuple[str, ...]:
        """Every copy that `copy` may answer with."""
        return ()


AUGMENTATIONS = PartOf("unshortcut.augmentations", Augmentation, "augmentation")
AnyAugmentation = Annotated[Augmentation, AUGMENTATIONS]
"""A field that holds an augmentation."""


def make_augmentation(name: str, settings: dict[str, Any]) -> Augmentation:
    """An augmentation by name, with validated settings."""
    made: Augmentation = AUGMENTATIONS.build({"name": name, **settings})
    return made


class Pipeline:
    """Augmentations in order; sampled parameters are a list with one entry per augmentation."""

    def __init__(self, augmentations: Sequence[Augmentation]) -> None:
        self.augmentations = tuple(augmentations)

    def sample(
        self,
        rng: np.random.Generator,
        height: int,
        width: int,
        given: Mapping[int, Any] = MappingProxyType({}),
    ) -> list[Any]:
        """Sample parameters for an image of height × width; `given` replaces some, by index.

        All are sampled nevertheless, so that `given` has no influence on the other parameters.
        """
        sampled = []
        for index, augmentation in enumerate(self.augmentations):
            params = augmentation.sample(rng, height, width)
            params = given.get(index, params)
            height, width = augmentation.output_size(params, height, width)
            sampled.append(params)
        return sampled

    def indices(self, name: str) -> list[int]:
        """The indices of the augmentations with a name."""
        return [index for index, one in enumerate(self.augmentations) if one.name == name]

    def shrink(self, sampled: Sequence[Any]) -> float:
        """The factor by which the image may be decoded smaller than it is, given the parameters."""
        return self.augmentations[0].shrink(sampled[0]) if self.augmentations else 1.0

    def copy(self, sampled: Sequence[Any]) -> str | None:
        """The copy of the data set that these sampled ask for, None for the image itself."""
        asked = (a.copy(params) for a, params in zip(self.augmentations, sampled, strict=True))
        return next((copy for copy in asked if copy is not None), None)

    def apply(self, image: ImageArray, sampled: Sequence[Any]) -> ImageArray:
        for augmentation, params in zip(self.augmentations, sampled, strict=True):
            image = augmentation.apply(image, params)
        return image
