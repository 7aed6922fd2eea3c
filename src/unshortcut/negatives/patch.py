"""Patch negatives: tiles of the query's own image (NSN, section 2.3)."""

from dataclasses import dataclass
from typing import Literal

from unshortcut.errors import UsageError
from unshortcut.negatives.own_image import OwnImageSettings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.tiled import TiledImage, TiledView


@dataclass(frozen=True)
class PatchSettings(OwnImageSettings):
    """Patches of d × d pixels, d drawn for each, tiled to the size of the view."""

    name = "patch"

    view: str = "patch_negative"
    of: Literal["view", "image"] = "view"
    """Patches of the finished query view, as in the authors' code, or of the image, as in the
    paper; nothing is done to the tiles afterwards."""
    patch: tuple[int, int] | None = None
    """Range of d, both ends included; None: 16 to 72 in 224 pixels, and as much in others."""
    overlap: bool = True
    """Patches from independent places, as in the code; if not, apart, as in the paper."""
    flip: bool = False
    """Flip single patches left to right at random (NSN, table 6)."""
    vertical_flip: bool = False
    """Flip single patches upside down at random."""
    rotate: bool = False
    """Turn single patches by 0 to 3 quarters at random."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patch is not None and not 1 <= self.patch[0] <= self.patch[1]:
            raise UsageError(
                f"patch.patch must be two whole numbers of at least 1, the lower first, "
                f"got {list(self.patch)}"
            )

    def transform(self, query: str) -> ViewTransform:
        kind = TiledView if self.of == "view" else TiledImage
        return kind(query, self.patch, self.overlap, self.flip, self.vertical_flip, self.rotate)
