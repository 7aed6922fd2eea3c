"""Alternatives: the first augmentation of a list that is not skipped at random."""

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import AnyAugmentation, Augmentation, ChosenAugmentation
from unshortcut.data.regions import MaskArray
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class FirstOf(Augmentation):
    """Applies the first selected augmentation, e.g. diffusion with p 0.5, else blur with p 0.5.

    Parameters are sampled for all of them, so that those of one do not depend on another.
    """

    name = "first_of"

    augmentations: tuple[AnyAugmentation, ...] = ()
    """Each with a probability of its own, in order of priority."""

    def sample(self, rng: Rng, height: int, width: int) -> ChosenAugmentation | None:
        sampled = [augmentation.sample(rng, height, width) for augmentation in self.augmentations]
        choices = (
            ChosenAugmentation(i, params) for i, params in enumerate(sampled) if params is not None
        )
        return next(choices, None)

    def apply(self, image: ImageArray, params: ChosenAugmentation | None) -> ImageArray:
        if params is None:
            return image
        return self.augmentations[params.chosen].apply(image, params.params)

    def apply_boxes(
        self, boxes: FloatArray, params: ChosenAugmentation | None, height: int, width: int
    ) -> FloatArray:
        if params is None:
            return boxes
        chosen = self.augmentations[params.chosen]
        return chosen.apply_boxes(boxes, params.params, height, width)

    def apply_mask(self, mask: MaskArray, params: ChosenAugmentation | None) -> MaskArray:
        if params is None:
            return mask
        return self.augmentations[params.chosen].apply_mask(mask, params.params)

    def check_regions(self) -> None:
        for augmentation in self.augmentations:
            augmentation.check_regions()

    def check(self) -> None:
        for augmentation in self.augmentations:
            augmentation.check()

    def output_size(
        self, params: ChosenAugmentation | None, height: int, width: int
    ) -> tuple[int, int]:
        if params is None:
            return height, width
        return self.augmentations[params.chosen].output_size(params.params, height, width)

    def shrink(self, params: ChosenAugmentation | None) -> float:
        return 1.0 if params is None else self.augmentations[params.chosen].shrink(params.params)
