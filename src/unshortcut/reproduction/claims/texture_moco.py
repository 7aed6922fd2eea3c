"""MoCo-v2 on diffused views transfers better (dissertation, tables 2.1 and 2.2)."""

from collections.abc import Mapping, Sequence

from unshortcut.reproduction.claim import Axis, Scale, Variant
from unshortcut.reproduction.claims import _texture as texture
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.registration import Registration

_DIFFUSED, _PLAIN = texture.label(texture.ANISOTROPIC), texture.label(texture.ORIGINAL)
_TABLE_2_1 = {
    texture.ORIGINAL: "moco-v2-imagenet",
    texture.ANISOTROPIC: "moco-v2-anisotropic-doubled-imagenet",
}
"""The recipe of a row by its kind of images."""
_RISING = ("unseen", "paired", "sketch", "silhouette", "shape_bias", "test")


class TextureMoco(texture.TextureClaim):
    """MoCo-v2 with and without the diffusion of half of its views."""

    name = "texture-moco"
    summary = "MoCo-v2 on texture-suppressed views knows shapes whose texture it has never seen"
    where = "dissertation, tables 2.1 and 2.2"
    recipes = texture.MOCO
    columns = (
        texture.UNSEEN,
        texture.PAIRED,
        texture.SHAPE_BIAS,
        texture.SKETCH,
        texture.SILHOUETTE,
        texture.TEST_ON_VOC,
    )
    notes = (
        texture.UNSEEN_NOTE,
        texture.VOC_NOTE,
        "At the scale of the paper, the views of moco-v2-anisotropic-imagenet are diffused as they "
        "are made, with the learning rate of the paper; its baseline is MoCo's own model.",
    )
    registration = Registration(
        order=22,
        seeds=3,
        arms=(_PLAIN, _DIFFUSED),
        primary=difference("unseen", _DIFFUSED, _PLAIN, 1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (texture.images(texture.ORIGINAL, texture.ANISOTROPIC),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return texture.printed(_TABLE_2_1[values["images"]], test="voc_ap50")

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return [difference(measure, _DIFFUSED, _PLAIN, 1) for measure in _RISING]
