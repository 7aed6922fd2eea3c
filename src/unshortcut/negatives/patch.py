"""Patch-based negatives: tiled patches of the query's own image (NSN, section 2.3)."""

from typing import Annotated, Literal

from unshortcut.fields import in_order
from unshortcut.negatives.own_image import OwnImageSettings
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.tiled import TiledImage, TiledView


@settings
class PatchSettings(OwnImageSettings):
    """Patches of d × d pixels with random d, tiled to the size of the view."""

    name = "patch"

    view: str = "patch_negative"
    of: Literal["view", "image"] = "view"
    """Whether patches are cut from the augmented query view, as in the authors' code, or from the
    image, as in the paper. The tiles are not augmented."""
    patch: Annotated[tuple[int, int], in_order(1, form="two integers")] | None = None
    """Range of d, both ends included; None for 16 to 72 of 224 pixels, in proportion."""
    overlap: bool = True
    """Whether positions are independent, as in the code; otherwise patches are disjoint, as in
    the paper."""
    flip: bool = False
    """Flip single patches left to right at random (NSN, table 6)."""
    vertical_flip: bool = False
    """Flip single patches upside down at random."""
    rotate: bool = False
    """Rotate single patches by a random multiple of 90 degrees."""

    def transform(self, query: str) -> ViewTransform:
        kind = TiledView if self.of == "view" else TiledImage
        return kind(query, self.patch, self.overlap, self.flip, self.vertical_flip, self.rotate)
