"""Jigsaw on diffused images, whole or tile by tile (dissertation, tables 2.7, 2.8; 2.5.4)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import Axis, MeasureColumn, Scale, Variant
from unshortcut.reproduction.claims import _texture as texture
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.registration import Registration

_PATCHWISE = "patchwise"
_DIFFUSED, _BY_TILE, _STYLIZED, _PLAIN = map(
    texture.label, (texture.ANISOTROPIC, _PATCHWISE, texture.STYLIZED, texture.ORIGINAL)
)
_TABLE_2_7 = {
    texture.ORIGINAL: "jigsaw-imagenet",
    texture.ANISOTROPIC: "jigsaw-anisotropic-imagenet",
    texture.STYLIZED: "jigsaw-stylized-imagenet",
}
"""The recipe of a row by its kind of images."""
_SHAPE = ("unseen", "paired", "sketch", "silhouette", "shape_bias")
"""Not in the tables; what the dissertation expects of less texture."""
_DIFFUSION = "{name: anisotropic_diffusion, iterations: 20, kappa: 20, p: 0.5}"
_WHOLE = "{name: resize, size: 256}, {name: center_crop}"
_GRAY = "{name: grayscale, p: 0.3}"
_TILES = "{name: random_crop, size: 64, padding: 0}, {name: color_shift, levels: [-2, 1]}"
_ON_IMAGENET = {
    texture.ANISOTROPIC: (f"views.augmentations=[{_WHOLE}, {_DIFFUSION}, {_GRAY}]",),
    _PATCHWISE: (f"method.tile_augmentations=[{_DIFFUSION}, {_TILES}]",),
    texture.STYLIZED: (
        f"views.augmentations=[{{name: texture_randomization, p: 1.0}}, {_WHOLE}, {_GRAY}]",
    ),
}
"""Filters the images of `jigsaw-imagenet` as they are read, in place of a copy."""


class TextureJigsaw(texture.TextureClaim):
    """Jigsaw on originals, with half of the images or half of the tiles diffused, or stylized."""

    name = "texture-jigsaw"
    summary = "Jigsaw learns more with half of the images diffused, and less so tile by tile"
    where = "dissertation, tables 2.7 and 2.8, section 2.5.4"
    recipes: ClassVar[Mapping[Scale, str]] = {"small": "jigsaw-shapes", "paper": "jigsaw-imagenet"}
    columns = (
        MeasureColumn("test", "test", "VOC classification"),
        texture.UNSEEN,
        texture.PAIRED,
        texture.SKETCH,
        texture.SILHOUETTE,
        texture.SHAPE_BIAS,
    )
    notes = (
        texture.UNSEEN_NOTE,
        "The paper transfers to classification on VOC 2007; next to its mAP stands our linear "
        "probe on the originals. For patch-wise diffusion it prints differences only.",
    )
    registration = Registration(
        order=24,
        seeds=3,
        arms=(_PLAIN, _DIFFUSED, _BY_TILE),
        primary=difference("test", _DIFFUSED, _PLAIN, 1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        changes = _ON_IMAGENET if scale == "paper" else {}
        kinds = (texture.ORIGINAL, texture.ANISOTROPIC, _PATCHWISE, texture.STYLIZED)
        return (texture.images(*kinds, changes=changes),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        row = _TABLE_2_7.get(values["images"])
        return {} if row is None else texture.printed(row, test="voc_classification")

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [
            difference("test", _DIFFUSED, _PLAIN, 1),
            difference("test", _BY_TILE, _PLAIN, 1, paper=0.6),
            difference("test", _DIFFUSED, _BY_TILE, 1, paper=1.1),
            difference("test", _STYLIZED, _PLAIN, -1),
            *(difference(measure, _DIFFUSED, _PLAIN, 1) for measure in _SHAPE),
        ]
