"""Views made from a copy of the data set that was filtered or stylized in advance."""

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, UseVariant
from unshortcut.fields import Probability
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class FromCopy(Augmentation):
    """With probability p, the whole pipeline starts from the image's copy instead of the image.

    `unshortcut filter` makes such a copy. The position in the pipeline does not matter; inside
    `first_of` it is an alternative to the other augmentations there.
    """

    name = "from_copy"

    path: str = ""
    """The copy: a folder, a tar file of one, or shards, with the names of the data set's own."""
    p: Probability = 0.5

    def sample(self, rng: Rng, height: int, width: int) -> UseVariant | None:
        return UseVariant(self.path) if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: UseVariant | None) -> ImageArray:
        return image  # the view plan has read the copy already
