"""Recipes, columns and measures that the claims on leave-one-out contrastive learning share.

LooC is Xiao et al., What Should Not Be Contrastive in Contrastive Learning, 2020. Each row of its
tables has a recipe per data set, so these claims compare recipes: `--recipe` names that of the
row MoCo, such as `moco-v2-imagenette`, and the other rows use the recipes for the same data.
Claims with equal trainings share them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

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
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure
from unshortcut.reproduction.measures.spaces import of_subset
from unshortcut.reproduction.measures.tasks import FactorsMeasure

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

MOCO: Mapping[Scale, str] = {"small": "moco-v2-shapes", "paper": "moco-v2-500ep-imagenet100"}
"""The recipe of the row MoCo."""
ROWS: Mapping[str, str] = {
    "moco": "moco-v2",
    "moco-no-jitter": "moco-v2",
    "moco-rotation": "moco-v2-rotation",
    "moco-same-rotation": "moco-v2-same-rotation",
    "looc-color": "looc-color",
    "looc-rotation": "looc-rotation",
    "add-one-color": "looc-add-one-color",
    "add-one-rotation": "looc-add-one-rotation",
}
"""Rows of tables 1, 2 and E.1, and a baseline, with the name of the recipe before the data."""
_CHANGES: Mapping[str, tuple[str, ...]] = {
    "moco-no-jitter": ("views.augmentations.color_jitter.p=0", "views.augmentations.grayscale.p=0")
}
"""Changes that a row makes to its recipe."""

ROTATION = MeasureColumn("rotation", "rotation", "rotation")
COLOR = MeasureColumn("color", "color", "iNat-1k")
TEST = MeasureColumn("test", "test", "ImageNet-100")
SMALL_NOTE = (
    "On shapes, the other keys of an image have a higher weight than in the paper (alpha 3 if only "
    "rotation has a space, else 2), and keys that happen to share the sampled parameters of the "
    "query are left out."
)
MEASURES: tuple[Measure, ...] = (LinearProbeMeasure(), FactorsMeasure())
PRINTED = {"rotation": "rotation", "color": "inat_top1", "test": "imagenet100_top1"}
"""By measure: the metric of the recipe that it is compared with."""


class RecipeComparison(Claim):
    """A claim that compares rows of the tables of the paper.

    A method is the name of a row, which means its representation; with the name of a space
    (`looc-color:color`), it means that space of the same training.
    """

    recipes = MOCO
    protocol = "looc"
    x = "method"
    measures = MEASURES

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        row, _, _ = variant.values["method"].partition(":")
        return row_recipe(row, base)

    def read(self, variant: Variant, metrics: Mapping[str, float]) -> Mapping[str, float]:
        _, _, space = variant.values["method"].partition(":")
        return of_subset(metrics, space or None)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        method = values["method"]
        if ":" in method or method in _CHANGES:
            return {}
        metrics = paper_metrics(row_recipe(method, MOCO["paper"]))
        keys = {c.measure: PRINTED[c.measure] for c in self.columns if c.paper is not None}
        return {measure: metrics[key] for measure, key in keys.items() if key in metrics}


def methods(*rows: str) -> Axis:
    """The axis of the rows, or of spaces of rows, to compare."""
    return choices("method", {row: _CHANGES.get(row, ()) for row in rows})


def row_recipe(row: str, base: "AnyRecipe") -> str:
    """The recipe of a row for the same data as `base`, the recipe of the row MoCo."""
    moco = f"{ROWS['moco']}-"
    if not isinstance(base, str) or not base.startswith(moco):
        raise UsageError(
            "--recipe: this claim compares recipes; give the one of its row MoCo, such as "
            f"{MOCO['small']} or moco-v2-imagenette, not '{base}'"
        )
    data = base.removeprefix(moco)
    if ROWS[row].startswith("looc"):
        data = data.removeprefix("500ep-")  # all recipes of LooC have 500 epochs
    return f"{ROWS[row]}-{data}"
