"""The interface of augmentations: parameters are sampled first and applied afterwards.

Sampling and applying are separate because views may share sampled parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple

from unshortcut.arrays import ImageArray
from unshortcut.parts import PartOf
from unshortcut.randomness import Rng


class Augmentation(ABC):
    """A frozen dataclass whose fields are its settings; recipes refer to it by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def sample(self, rng: Rng, height: int, width: int) -> Any:
        """Sample parameters for an image of height × width; None leaves the image as it is."""

    @abstractmethod
    def apply(self, image: ImageArray, params: Any) -> ImageArray:
        """Apply sampled parameters to a uint8 (h, w, 3) image, which is never changed in place."""

    def check(self) -> None:
        """Raise `UsageError` for settings with which it cannot be applied; part of every recipe."""
        return

    def output_size(self, params: Any, height: int, width: int) -> tuple[int, int]:
        """Height and width of the image that `apply` returns."""
        return height, width

    def shrink(self, params: Any) -> float:
        """The factor by which the input of `apply` may be smaller than the full image.

        It only matters for the first augmentation of a pipeline. One that returns more than 1
        accepts an array in `apply` that is smaller than the size its parameters were sampled for.
        """
        return 1.0


class RandomlyApplied(Augmentation):
    """The base of augmentations that only apply `change` with probability `p`."""

    p: float

    @abstractmethod
    def change(self, image: ImageArray) -> ImageArray:
        """The changed image, uint8 (h, w, 3)."""

    def sample(self, rng: Rng, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return self.change(image) if params else image


AUGMENTATIONS = PartOf("unshortcut.augmentations", Augmentation, "augmentation")
AnyAugmentation = Annotated[Augmentation, AUGMENTATIONS]
"""A field that holds an augmentation."""


def make_augmentation(name: str, settings: dict[str, Any]) -> Augmentation:
    """Create an augmentation by name, with validated settings."""
    made: Augmentation = AUGMENTATIONS.build({"name": name, **settings})
    return made


@dataclass(frozen=True)
class UseVariant:
    """Sampled parameters that request the whole view to be made from a variant of the image."""

    name: str


class ChosenAugmentation(NamedTuple):
    """Sampled parameters that choose one of several augmentations."""

    chosen: int
    params: Any


def requested_variant(sampled: Any) -> str | None:
    """The variant that sampled parameters request, None for the image itself.

    `sampled` are the parameters of an augmentation or of a pipeline.
    """
    if isinstance(sampled, UseVariant):
        return sampled.name
    if isinstance(sampled, ChosenAugmentation):
        return requested_variant(sampled.params)
    if isinstance(sampled, list):
        return next((name for name in map(requested_variant, sampled) if name is not None), None)
    return None


class Pipeline:
    """Augmentations in order; its sampled parameters are a list, one entry per augmentation."""

    def __init__(self, augmentations: Sequence[Augmentation]) -> None:
        self.augmentations = tuple(augmentations)
        for augmentation in self.augmentations:
            augmentation.check()

    def sample(
        self, rng: Rng, height: int, width: int, given: Mapping[int, Any] = MappingProxyType({})
    ) -> list[Any]:
        """Sample parameters for an image of height × width.

        `given` replaces the parameters of single augmentations, by index. Those are sampled all
        the same, so that the other augmentations get the same parameters with and without it.
        """
        sampled = []
        for index, augmentation in enumerate(self.augmentations):
            params = augmentation.sample(rng, height, width)
            params = given.get(index, params)
            height, width = augmentation.output_size(params, height, width)
            sampled.append(params)
        return sampled

    def output_size(self, sampled: Sequence[Any], height: int, width: int) -> tuple[int, int]:
        """Height and width of the result for an image of height × width."""
        for augmentation, params in zip(self.augmentations, sampled, strict=True):
            height, width = augmentation.output_size(params, height, width)
        return height, width

    def indices(self, name: str) -> list[int]:
        """Indices of the augmentations with a name."""
        return [index for index, one in enumerate(self.augmentations) if one.name == name]

    def shrink(self, sampled: Sequence[Any]) -> float:
        """How many times smaller than the full image the image may be decoded."""
        return self.augmentations[0].shrink(sampled[0]) if self.augmentations else 1.0

    def apply(self, image: ImageArray, sampled: Sequence[Any]) -> ImageArray:
        for augmentation, params in zip(self.augmentations, sampled, strict=True):
            image = augmentation.apply(image, params)
        return image
