"""Texture-suppressed images help when labels are corrupted (dissertation, table 2.10)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, Variant, setting
from unshortcut.reproduction.claims import _texture as texture
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.own_classifier import OwnClassifierMeasure
from unshortcut.reproduction.registration import Registration

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

_ERROR = "test_error"
_COLUMN = {texture.ORIGINAL: "error_baseline", texture.ANISOTROPIC: "error_anisotropic"}
"""The column of table 2.10 by kind of images."""
Cell = tuple[str, str]
"""Probability of a corrupted label and gold fraction."""
_REGISTERED: tuple[Cell, ...] = tuple((p, gold) for p in ("0.4", "0.8") for gold in ("0.05", "0.1"))


def _label(cell: Cell, kind: str) -> str:
    return f"p={cell[0]} gold={cell[1]} {texture.label(kind)}"


def _gains(cells: Sequence[Cell], weight: float) -> dict[str, float]:
    """Weights of the mean over cells of the error with diffused images minus that without."""
    share = weight / len(cells)
    with_diffused = {_label(cell, texture.ANISOTROPIC): share for cell in cells}
    return with_diffused | {_label(cell, texture.ORIGINAL): -share for cell in cells}


def _mean_gain(cells: Sequence[Cell]) -> Effect:
    return Effect("mean of anisotropic - original", _ERROR, _gains(cells, 1.0), -1)


class LabelCorruption(Claim):
    """Gold loss correction on originals alone and also on diffused images, over both strengths."""

    name = "label-corruption"
    summary = "also training on diffused images lowers the error when labels are corrupted"
    where = "dissertation, table 2.10 and figure 2.7"
    recipes: ClassVar[Mapping[Scale, str]] = {"small": "glc-shapes", "paper": "glc-cifar100"}
    x = "p"
    columns = (MeasureColumn(_ERROR, "test error", "CIFAR-100, error"),)
    measures: ClassVar[tuple[Measure, ...]] = (OwnClassifierMeasure(),)
    notes = (
        "The error is that of the classifier after gold loss correction. The paper doubles the "
        "data with filtered copies; here half of the images are filtered as they are read, with "
        "the corrupted or trusted label of the image. Whether copies have the corrupted label of "
        "their original in the paper is not stated, nor is the kind of corruption; ours is "
        "uniform, the default of the code that it cites.",
    )
    registration = Registration(
        order=32,
        seeds=3,
        arms=tuple(
            _label(cell, kind)
            for cell in _REGISTERED
            for kind in (texture.ORIGINAL, texture.ANISOTROPIC)
        ),
        primary=_mean_gain(_REGISTERED),
        # In each of the two phases, so that a training takes a few minutes on one core.
        changes=("schedule.epochs=10",),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        strengths = ("0.2", "0.4", "0.6", "0.8", "1.0") if scale == "paper" else ("0.4", "0.8")
        fractions = ("0.1",) if scale == "small" else ("0.05", "0.1")
        return (
            setting("p", "data.label_noise.p", strengths),
            setting("gold", "data.label_noise.gold", fractions),
            texture.images(texture.ORIGINAL, texture.ANISOTROPIC),
        )

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        kind = variant.values["images"]
        return base if kind == texture.ORIGINAL else texture.recipe_of(kind, base)

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        row = _table().get((float(values["p"]), float(values["gold"])), {})
        column = _COLUMN[values["images"]]
        return {_ERROR: row[column]} if column in row else {}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        cells = list(dict.fromkeys((v.values["p"], v.values["gold"]) for v in variants))
        found = [
            difference(
                _ERROR, _label(cell, texture.ANISOTROPIC), _label(cell, texture.ORIGINAL), -1
            )
            for cell in cells
        ]
        if len(cells) < 2:
            return found
        found.append(_mean_gain(cells))
        weak, strong = (
            [cell for cell in cells if cell[0] == choose((c[0] for c in cells), key=float)]
            for choose in (min, max)
        )
        if weak != strong:
            growing = _gains(strong, 1.0) | _gains(weak, -1.0)
            what = f"the same, p={strong[0][0]} minus p={weak[0][0]}"
            found.append(Effect(what, _ERROR, growing, -1))
        return found


@cache
def _table() -> dict[tuple[float, float], Mapping[str, float]]:
    """The numbers of table 2.10 by probability and gold fraction."""
    from unshortcut.recipes.papers import paper_tables

    found = {}
    for row in paper_tables("dissertation/2.10")[0].rows:
        p, gold = (float(part.split()[1]) for part in row.label.split(","))
        found[p, gold] = row.numbers
    return found
