"""What an augmentation is: parameters are drawn in one half and applied in the other.

The two halves are apart because leave-one-out views share a parameter between views.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.parts import PartOf


class Augmentation(ABC):
    """A frozen dataclass whose fields are its settings, found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def sample(self, rng: np.random.Generator, height: int, width: int) -> Any:
        """Draw parameters for an image of height × width; None means: leave it as it is."""

    @abstractmethod
    def apply(self, image: ImageArray, params: Any) -> ImageArray:
        """Apply drawn parameters to a uint8 (h, w, 3) image; never changes its input."""

    def output_size(self, params: Any, height: int, width: int) -> tuple[int, int]:
        """Height and width of what `apply` returns."""
        return height, width

    def shrink(self, params: Any) -> float:
        """How many times smaller than the full image the input of `apply` may be decoded.

        Only asked of the first augmentation of a pipeline; an augmentation that answers more
        than 1 accepts in `apply` an array that is smaller than the size it was sampled for.
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
    """An augmentation by name, its settings validated."""
    made: Augmentation = AUGMENTATIONS.build({"name": name, **settings})
    return made


class Pipeline:
    """Augmentations in order; sampled are a list with one entry an augmentation."""

    def __init__(self, augmentations: Sequence[Augmentation]) -> None:
        self.augmentations = tuple(augmentations)

    def sample(
        self,
        rng: np.random.Generator,
        height: int,
        width: int,
        given: Mapping[int, Any] = MappingProxyType({}),
    ) -> list[Any]:
        """Draws for an image of height × width; `given` has those that are not left to chance.

        Given or not, everything is drawn: what is given changes nothing of the other sampled.
        """
        sampled = []
        for place, augmentation in enumerate(self.augmentations):
            params = augmentation.sample(rng, height, width)
            params = given.get(place, params)
            height, width = augmentation.output_size(params, height, width)
            sampled.append(params)
        return sampled

    def places(self, name: str) -> list[int]:
        """Where the augmentations of a name stand."""
        return [place for place, one in enumerate(self.augmentations) if one.name == name]

    def shrink(self, sampled: Sequence[Any]) -> float:
        """How many times smaller than the full image the image may be decoded for these sampled."""
        return self.augmentations[0].shrink(sampled[0]) if self.augmentations else 1.0

    def copy(self, sampled: Sequence[Any]) -> str | None:
        """The copy of the data set that these sampled ask for, None for the image itself."""
        asked = (a.copy(params) for a, params in zip(self.augmentations, sampled, strict=True))
        return next((copy for copy in asked if copy is not None), None)

    def apply(self, image: ImageArray, sampled: Sequence[Any]) -> ImageArray:
        for augmentation, params in zip(self.augmentations, sampled, strict=True):
            image = augmentation.apply(image, params)
        return image
