"""Texture-based negatives, synthesized from two patches of the query's image (NSN, section 2.2)."""

from typing import Annotated

from unshortcut.fields import Allowed
from unshortcut.negatives.own_image import OwnImageSettings
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.textured import Textured

PatchSide = Annotated[
    float,
    Allowed(
        "a number of pixels, or a fraction of at most 1",
        lambda side: side > 0 and (side <= 1 or side % 1 == 0),
    ),
]


@settings
class TextureSettings(OwnImageSettings):
    """A texture image, augmented with the sampled parameters of the query."""

    name = "texture"

    view: str = "texture_negative"
    copy: str | None = None
    """A copy of the data set made by `unshortcut texturize`. Without it, textures are synthesized
    for each view, which takes a sixth of a second at 224 pixels."""
    patch: PatchSide | None = None
    """Side of the example patches in pixels, or, if at most 1, as a fraction of the image's
    shorter side; None for 96 pixels, or 48 in small images, as in the paper."""

    def __post_init__(self) -> None:
        if self.copy is not None and self.patch is not None:
            raise ValueError("'patch' has no effect on textures from a 'copy'; set only one")
        if self.copy is not None and self.count > 1:
            raise ValueError("a 'copy' has one texture per image, so 'count' must be 1")

    def transform(self, query: str) -> ViewTransform:
        return Textured(query, self.copy, self.patch)
