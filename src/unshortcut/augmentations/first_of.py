"""Alternatives: the first augmentation of a list that is not skipped at random."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import AnyAugmentation, Augmentation, ChosenAugmentation
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
