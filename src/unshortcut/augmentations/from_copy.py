"""The view is made from a copy of the data set: filtered or stylized beforehand, read here."""

from typing import ClassVar

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.fields import Probability
from unshortcut.parts import settings


@settings
class FromCopy(Augmentation):
    """With probability p, the whole pipeline is given the image's copy in place of the image.

    `unshortcut filter` makes such a copy. Where in the pipeline it stands does not matter; in
    `first_of` it is an alternative to the others there.
    """

    name: ClassVar[str] = "from_copy"

    path: str = ""
    """The copy: a folder, a tar file of one, or shards, with the names of the data set's own."""
    p: Probability = 0.5

    def sample(self, rng: np.random.Generator, height: int, width: int) -> bool | None:
        return True if rng.random() < self.p else None

    def apply(self, image: ImageArray, params: bool | None) -> ImageArray:
        return image

    def copy(self, params: bool | None) -> str | None:
        return self.path if params else None

    def copies(self) -> tuple[str, ...]:
        return (self.path,)
