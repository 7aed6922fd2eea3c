"""What the claims on leave-one-out contrastive learning share: rows of its tables as recipes.

The paper is LooC: Xiao et al., What Should Not Be Contrastive in Contrastive Learning, 2020. A row
has a recipe of its own for every data set, so these claims compare recipes: `--recipe` names that
of the row MoCo, such as `moco-v2-imagenette`, and the others are those for the same data. Equal
trainings of different claims are one.
"""

from collections.abc import Mapping
from functools import cache
from typing import ClassVar

from unshortcut.errors import UsageError, unknown
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.reproduction.claim import Axis, Claim, Column, Scale, Variant
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.factors import Factors
from unshortcut.reproduction.measures.readout import Readout
from unshortcut.reproduction.measures.spaces import of_subset

MOCO: Mapping[Scale, str] = {"small": "moco-v2-shapes", "paper": "moco-v2-500ep-imagenet100"}
"""The row MoCo."""
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
"""Rows of tables 1, 2 and E.1, and a baseline, with the recipes' names up to the data."""
_CHANGES: Mapping[str, tuple[str, ...]] = {
    "moco-no-jitter": (
        "views.augmentations.color_jitter.p=0",
        "views.augmentations.grayscale.p=0",
    ),
}
"""What a row changes of its recipe."""

ROTATION = Column("rotation", "rotation", "rotation")
COLOR = Column("color", "color", "iNat-1k")
TEST = Column("test", "test", "ImageNet-100")
SMALL_NOTE = (
    "On shapes the image's other keys weigh more than in the paper (alpha 3 where turns alone have "
    "a space, else 2), and those that drew by accident what the query drew are left out."
)
MEASURES: tuple[Measure, ...] = (Readout(), Factors())
PRINTED = {"rotation": "rotation", "color": "inat_top1", "test": "imagenet100_top1"}
"""By measure: the figure of a recipe that stands beside it."""


class Rows(Claim):
    """A claim that compares rows of the paper's tables.

    A method is the name of a row, which stands for its representation; with the name of a space
    (`looc-color:color`) it stands for that space of the same training.
    """

    recipes: ClassVar[Mapping[Scale, str]] = MOCO
    x: ClassVar[str] = "method"
    measures: ClassVar[tuple[Measure, ...]] = MEASURES

    def recipe(self, variant: Variant, base: AnyRecipe) -> AnyRecipe:
        row, _, _ = variant.values["method"].partition(":")
        return row_recipe(row, base)

    def read(self, variant: Variant, metrics: Mapping[str, float]) -> Mapping[str, float]:
        _, _, space = variant.values["method"].partition(":")
        return of_subset(metrics, space or None)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        method = values["method"]
        if ":" in method or method in _CHANGES:
            return {}
        metrics = paper_figures(row_recipe(method, MOCO["paper"]))
        beside = {c.measure: PRINTED[c.measure] for c in self.columns if c.paper is not None}
        return {measure: metrics[key] for measure, key in beside.items() if key in metrics}


def methods(*rows: str) -> Axis:
    """The axis of the rows, or spaces of rows, that are compared."""

    def changes(value: str) -> tuple[str, ...]:
        if value not in rows:
            raise unknown("method of this claim", value, rows)
        return _CHANGES.get(value, ())

    return Axis("method", rows, changes)


def row_recipe(row: str, base: AnyRecipe) -> str:
    """The recipe of a row for the same data as that of the row MoCo."""
    moco = f"{ROWS['moco']}-"
    if not isinstance(base, str) or not base.startswith(moco):
        raise UsageError(
            "--recipe: this claim compares recipes; name that of its row MoCo, such as "
            f"{MOCO['small']} or moco-v2-imagenette, not '{base}'"
        )
    data = base.removeprefix(moco)
    if ROWS[row].startswith("looc"):
        data = data.removeprefix("500ep-")  # as all of LooC's are
    return f"{ROWS[row]}-{data}"


@cache
def paper_figures(recipe: str) -> Mapping[str, float]:
    """All that the paper prints of the row of a recipe."""
    row = load_recipe(recipe).paper
    return {} if row is None else row.metrics
