"""Recipes, columns and measures that the claims on suppressed texture share.

They are those of chapter 2 of the dissertation: encoders that are trained on images without their
texture. Each kind of images has a recipe per data set, so these claims compare recipes: `--recipe`
names that of the originals, such as `moco-v2-imagenette`, and the others use the recipes for the
same data. Claims with equal trainings share them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from unshortcut.errors import UsageError
from unshortcut.reproduction.claim import (
    Axis,
    Claim,
    MeasureColumn,
    Scale,
    Variant,
    choices,
    paper_metrics,
)
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.cue_conflict import CueConflictMeasure
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure
from unshortcut.reproduction.measures.tasks import TransferMeasure
from unshortcut.reproduction.measures.unseen_textures import UnseenTexturesMeasure

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

MOCO: Mapping[Scale, str] = {"small": "moco-v2-shapes", "paper": "moco-v2-imagenet"}
"""The recipe of MoCo-v2 on originals."""
ORIGINAL, ANISOTROPIC, STYLIZED = "original", "anisotropic", "stylized"
"""Kinds of images. Those other than originals are part of the names of their recipes."""

TEST_ON_VOC = MeasureColumn("test", "test", "VOC, AP50")
SKETCH = MeasureColumn("sketch", "sketch")
SILHOUETTE = MeasureColumn("silhouette", "silhouette")
PAIRED = MeasureColumn("paired", "known textures")
UNSEEN = MeasureColumn("unseen", "unseen textures")
SHAPE_BIAS = MeasureColumn("shape_bias", "shape bias")

MEASURES: tuple[Measure, ...] = (
    LinearProbeMeasure(),
    TransferMeasure(),
    CueConflictMeasure(),
    UnseenTexturesMeasure(),
)
UNSEEN_NOTE = (
    "Known and unseen textures: a linear probe on the frozen features is fitted on shapes with any "
    "of the eight known textures, and tested on the same and on eight others. Texture says nothing "
    "of the shape in either, so an encoder of texture alone is at chance, 12.5 %."
)
VOC_NOTE = (
    "The paper transfers to detection on VOC; next to its AP50 stands our linear probe on the "
    "originals."
)


class TextureClaim(Claim):
    """A claim that compares trainings on different kinds of images."""

    x = "images"
    protocol = "moco"
    measures: ClassVar[tuple[Measure, ...]] = MEASURES

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        # A variant with changes of its own is made from the recipe of the originals.
        kind = variant.values["images"]
        return base if variant.changes or kind == ORIGINAL else recipe_of(kind, base)


def images(*kinds: str, changes: Mapping[str, tuple[str, ...]] | None = None) -> Axis:
    """The axis of kinds of images; `changes` make those that have no recipe from that of the
    originals."""
    return choices("images", {kind: (changes or {}).get(kind, ()) for kind in kinds})


def label(kind: str) -> str:
    """The label of the variant of a kind of images."""
    return f"images={kind}"


def printed(recipe: str, **keys: str) -> dict[str, float]:
    """The metrics of the paper's row of a recipe; `keys` gives their names there, by measure."""
    row = paper_metrics(recipe)
    return {measure: row[key] for measure, key in keys.items()}


def recipe_of(kind: str, base: "AnyRecipe") -> str:
    """The recipe for a kind of images and the same data as `base`, the recipe of the originals.

    >>> recipe_of("anisotropic", "moco-v2-shapes")
    'moco-v2-anisotropic-shapes'
    """
    if not isinstance(base, str) or "-" not in base or base.endswith((".yaml", ".yml")):
        raise UsageError(
            "--recipe: this claim compares recipes; give the name of the one on originals, such as "
            f"moco-v2-shapes or moco-v2-imagenette, not '{base}'"
        )
    method, _, data = base.rpartition("-")
    return f"{method}-{kind}-{data}"
