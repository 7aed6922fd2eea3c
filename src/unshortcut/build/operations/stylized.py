"""`stylized`: replaces the texture of an image and keeps its shapes, as in Stylized-ImageNet."""

from pathlib import Path

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.texture_randomization import StyleSettings, TextureRandomization
from unshortcut.build.operation import Operation
from unshortcut.data.named import NAMES
from unshortcut.data.open import DataSpec
from unshortcut.parts import settings
from unshortcut.randomness import Rng


@settings
class StylizedOperation(StyleSettings, Operation):
    """Texture randomization of every image, without a network or by AdaIN."""

    name = "stylized"

    def __post_init__(self) -> None:
        # Workers on a cluster start in other folders, so paths must be absolute.
        if self.styles is not None and DataSpec.parse(self.styles).where not in NAMES:
            object.__setattr__(self, "styles", _absolute(self.styles))
        if self.adain is not None:
            object.__setattr__(self, "adain", _absolute(self.adain))
        self._augmentation()

    def apply(self, image: ImageArray, rng: Rng) -> ImageArray:
        augmentation = self._augmentation()
        return augmentation.apply(image, augmentation.sample(rng, *image.shape[:2]))

    def _augmentation(self) -> TextureRandomization:
        return TextureRandomization(self.strength, self.styles, self.adain, p=1.0)


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())
