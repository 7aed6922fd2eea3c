"""Texture negatives: an image synthesized from two patches of the query's (NSN, section 2.2)."""

from dataclasses import dataclass

from unshortcut.errors import UsageError
from unshortcut.negatives.own_image import OwnImageSettings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.textured import Textured


@dataclass(frozen=True)
class TextureSettings(OwnImageSettings):
    """The texture image, with the query's own augmentation draws."""

    name = "texture"

    view: str = "texture_negative"
    copy: str | None = None
    """The texturized copy of the data set, as `unshortcut texturize` makes it; without one, a
    texture is synthesized for each view, which takes a sixth of a second at 224 pixels."""
    patch: float | None = None
    """Side of the example patches, where there is no copy, or, below 1, their share of the
    image's shorter side; None: 96 pixels, or 48 in small images, as in the paper."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patch is not None and (self.patch <= 0 or (self.patch > 1 and self.patch % 1)):
            raise UsageError(
                f"texture.patch must be a whole number of pixels, or a share, got {self.patch}"
            )
        if self.copy is not None and self.patch is not None:
            raise UsageError("texture.patch is for textures that are made here, not for a copy")
        if self.copy is not None and self.count > 1:
            raise UsageError("texture.copy holds one texture an image; texture.count must be 1")

    def transform(self, query: str) -> ViewTransform:
        return Textured(query, self.copy, self.patch)
