"""The interface of augmentations: parameters are sampled first and applied afterwards.

Sampling and applying are separate because views may share sampled parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.data.regions import MaskArray, Regions
from unshortcut.errors import UsageError
from unshortcut.imaging.boxes import areas, clip_boxes
from unshortcut.parts import PartOf
from unshortcut.randomness import Rng


class Augmentation(ABC):
    """A frozen dataclass whose fields are its settings; recipes refer to it by its `name`."""

    name: ClassVar[str]
    keeps_layout: ClassVar[bool] = True
    """Whether boxes and masks can follow: `apply_boxes` and `apply_mask` tell where things go."""

    @abstractmethod
    def sample(self, rng: Rng, height: int, width: int) -> Any:
        """Sample parameters for an image of height × width; None leaves the image as it is."""

    @abstractmethod
    def apply(self, image: ImageArray, params: Any) -> ImageArray:
        """Apply sampled parameters to a uint8 (h, w, 3) image, which is never changed in place."""

    def apply_boxes(self, boxes: FloatArray, params: Any, height: int, width: int) -> FloatArray:
        """Boxes (n, 4) of an image of height × width, x0, y0, x1, y1, in pixels of the result.

        They are not clipped to the result. The size is that of the full image, although `apply`
        may have been given a smaller one (`shrink`).
        """
        return boxes

    def apply_mask(self, mask: MaskArray, params: Any) -> MaskArray:
        """The mask (h, w) of the full image as it lies on the result.

        A pixel takes the class of the nearest one; `IGNORED` where the result shows no image.
        """
        return mask

    def check_regions(self) -> None:
        """Raise `UsageError` if boxes and masks cannot follow the image."""
        if not self.keeps_layout:
            raise UsageError(
                f"'{self.name}' cannot be used with boxes or masks, which cannot follow what it "
                "does to an image"
            )

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

    def apply_regions(
        self,
        regions: Regions,
        sampled: Sequence[Any],
        height: int,
        width: int,
        *,
        min_visible: float = 0.25,
    ) -> Regions:
        """The annotation of a full image of height × width, in pixels of the result.

        Boxes are clipped to what each step leaves of the image. Those are dropped of which less
        than the share `min_visible` of the area is left, or a side of less than a pixel.
        """
        mask = regions.mask
        whole = seen = np.zeros((0, 4), np.float32) if regions.boxes is None else regions.boxes
        for augmentation, params in zip(self.augmentations, sampled, strict=True):
            both = np.concatenate([whole, seen])
            both = augmentation.apply_boxes(both, params, height, width)
            height, width = augmentation.output_size(params, height, width)
            # What a step cuts off does not come back, whatever the next ones do.
            whole, seen = both[: len(whole)], clip_boxes(both[len(whole) :], height, width)
            mask = None if mask is None else augmentation.apply_mask(mask, params)
        if regions.boxes is None or regions.box_labels is None:
            return replace(regions, mask=mask)
        seen = clip_boxes(seen, height, width)
        kept = (seen[:, 2:] - seen[:, :2] >= 1).all(axis=1)
        kept &= areas(seen) >= min_visible * areas(whole)
        return replace(regions, boxes=seen, mask=mask).take(kept)

    def check_regions(self) -> None:
        """Raise `UsageError` if boxes and masks cannot follow one of the augmentations."""
        for augmentation in self.augmentations:
            augmentation.check_regions()
