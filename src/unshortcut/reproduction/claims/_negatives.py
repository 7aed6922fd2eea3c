"""Recipes, keys and columns that the claims on non-semantic negatives (NSN) share.

NSN is Ge et al., Robust Contrastive Learning Using Negative Samples with Diminished Semantics,
2021. Claims with equal trainings share them.
"""

from collections.abc import Mapping
from typing import ClassVar

from unshortcut.errors import UsageError
from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, paper_metrics, setting
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure
from unshortcut.reproduction.measures.tasks import TransferMeasure

MOCO: Mapping[Scale, str] = {
    "small": "moco-v2-patch-shapes",
    "paper": "moco-v2-patch-a2-imagenet100",
}
"""MoCo-v2 with patch negatives."""
PATCH_ALPHA: Mapping[Scale, float] = {"small": 3, "laptop": 2, "paper": 2}
"""Alpha of the paper and of the small recipe, which was chosen on drawings of another seed: in so
few epochs, 2 has no effect yet and 5 is too much."""
ALPHA = "method.negatives.patch.alpha"
LAPTOP_ALPHA = f"{ALPHA}={PATCH_ALPHA['laptop']}"
"""The change to a recipe for claims that do not vary alpha."""
SWEEP = (0, 1, 2, 3, 4, 5)
"""Values of alpha in figures 6 and 13; 0 is the baseline without patch negatives."""
ALPHA_NOTE = (
    "At the small scale alpha is 3; the numbers of the paper next to it are for its alpha of 2."
)

TEST = MeasureColumn("test", "test", "ImageNet-100")
SKETCH = MeasureColumn("sketch", "sketch", "ImageNet-Sketch")
SILHOUETTE = MeasureColumn("silhouette", "silhouette")
STYLIZED = MeasureColumn("stylized", "stylized", "Stylized-ImageNet")
SHAPE_BIAS = MeasureColumn("shape_bias", "shape bias")
TEXTURE = MeasureColumn("texture", "texture only")
COLUMNS = (TEST, SKETCH, SILHOUETTE, STYLIZED, TEXTURE, SHAPE_BIAS)

ACCURACIES: tuple[Measure, ...] = (LinearProbeMeasure(), TransferMeasure())
_PAPER_KEYS = {
    "test": "imagenet100_top1",
    "sketch": "imagenet_sketch",
    "stylized": "stylized_imagenet",
}

USUAL_PATCH = "16-72"
"""Range of the patch size d in the tables of the paper, and the default of the recipes."""
_SIDE: dict[Scale, int] = {"small": 64, "laptop": 64, "paper": 224}
PATCH_NOTE = (
    "Ranges of the patch size are given in pixels of a 224-pixel view (NSN, C.3); on shapes "
    f"they are multiplied by {_SIDE['small']} / {_SIDE['paper']}."
)


class NegativesClaim(Claim):
    """A claim on MoCo-v2 with patch negatives, unless it names other recipes."""

    recipes = MOCO
    protocol = "nsn"
    columns: ClassVar[tuple[MeasureColumn, ...]] = COLUMNS
    measures: ClassVar[tuple[Measure, ...]] = ACCURACIES
    in_paper: ClassVar[tuple[str, ...]] = tuple(_PAPER_KEYS)
    """Measures that are shown next to those of the paper."""

    def paper_recipe(self, values: Mapping[str, str]) -> str | None:
        """The recipe of the row of the paper that a variant is compared with."""
        return None

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        recipe = self.paper_recipe(values)
        return {} if recipe is None else printed(recipe, *self.in_paper)


def alphas(*values: float) -> Axis:
    """The axis of alpha; 0 means no patch negatives."""
    return setting("alpha", ALPHA, values)


def patch_alpha(values: Mapping[str, str]) -> str:
    """The alpha of the paper that a variant is compared with: 2 for both `PATCH_ALPHA`."""
    return "2" if float(values["alpha"]) in PATCH_ALPHA.values() else values["alpha"]


def printed(recipe: str, *measures: str) -> dict[str, float]:
    """The metrics that the paper prints for a recipe, by measure."""
    metrics, keys = paper_metrics(recipe), {name: _PAPER_KEYS[name] for name in measures}
    return {name: metrics[key] for name, key in keys.items() if key in metrics}


def patch_bounds(patch_range: str) -> tuple[int, int]:
    """`16-72` as two numbers."""
    low, dash, high = patch_range.partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or not 1 <= int(low) <= int(high):
        raise UsageError(f"a range of patch sizes looks like {USUAL_PATCH}, not '{patch_range}'")
    return int(low), int(high)


def patch_changes(patch_range: str, scale: Scale) -> tuple[str, ...]:
    """The changes to a recipe that a range of patch sizes means."""
    if patch_range == USUAL_PATCH:
        return ()
    low, high = (max(1, round(d * _SIDE[scale] / 224)) for d in patch_bounds(patch_range))
    return (f"method.negatives.patch.patch=[{low},{high}]",)
