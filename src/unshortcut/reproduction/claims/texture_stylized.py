"""Pretext tasks on stylized images teach little (dissertation, tables 2.1 and 2.7, figure 2.6)."""

from collections.abc import Mapping, Sequence

from unshortcut.reproduction.claim import Axis, MeasureColumn, Scale, Variant
from unshortcut.reproduction.claims import _texture as texture
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measures.loss_curve import LossCurveMeasure
from unshortcut.reproduction.registration import Registration

_STYLIZED, _PLAIN = texture.label(texture.STYLIZED), texture.label(texture.ORIGINAL)
_TABLE_2_1 = {
    texture.ORIGINAL: "moco-v2-imagenet",
    texture.STYLIZED: "moco-v2-stylized-imagenet",
}
"""The recipe of a row by its kind of images."""
_NATS = 0.05
"""Margin of a loss; set before any training."""
_ON_IMAGENET = (
    "views.augmentations=[{name: texture_randomization, p: 1.0}, "
    "{name: random_resized_crop, scale: [0.2, 1.0]}, "
    "{name: color_jitter, brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1, p: 0.8}, "
    "{name: grayscale, p: 0.2}, {name: gaussian_blur, sigma: [0.1, 2.0], p: 0.5}, "
    "{name: horizontal_flip, p: 0.5}]",
    "method.shared=[texture_randomization]",
)
"""Stylizes the images of `moco-v2-imagenet` as they are read, in place of a stylized copy."""


class TextureStylized(texture.TextureClaim):
    """MoCo-v2 on stylized images and on originals, and its loss early in the training."""

    name = "texture-stylized"
    summary = "texture solves MoCo-v2's task on stylized images at once, and its features are worse"
    where = "dissertation, tables 2.1 and 2.7, figure 2.6"
    recipes = texture.MOCO
    columns = (
        texture.TEST_ON_VOC,
        texture.PAIRED,
        texture.UNSEEN,
        texture.SKETCH,
        texture.SILHOUETTE,
        texture.SHAPE_BIAS,
        MeasureColumn("early_loss", "early loss", digits=2),
        MeasureColumn("final_loss", "final loss", digits=2),
    )
    measures = (*texture.MEASURES, LossCurveMeasure())
    notes = (
        texture.UNSEEN_NOTE,
        texture.VOC_NOTE,
        "Both views are crops of the same stylized image, whose style thus tells them from all "
        "others. The early loss is that after a tenth of the epochs; the paper draws it as a curve "
        "without numbers. Nothing is predicted for the final loss and for shape bias.",
    )
    registration = Registration(
        order=23,
        seeds=3,
        arms=(_PLAIN, _STYLIZED),
        primary=difference("test", _STYLIZED, _PLAIN, -1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        changes = {texture.STYLIZED: _ON_IMAGENET} if scale == "paper" else {}
        return (texture.images(texture.ORIGINAL, texture.STYLIZED, changes=changes),)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        return texture.printed(_TABLE_2_1[values["images"]], test="voc_ap50")

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        falling = ("test", "paired", "unseen", "sketch", "silhouette")
        found: list[Effect] = [difference(name, _STYLIZED, _PLAIN, -1) for name in falling]
        found.append(difference("early_loss", _STYLIZED, _PLAIN, -1, margin=_NATS))
        found.append(difference("final_loss", _STYLIZED, _PLAIN, margin=_NATS))
        return [*found, difference("shape_bias", _STYLIZED, _PLAIN)]
