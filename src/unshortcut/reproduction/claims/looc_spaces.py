"""Tasks differ in the embedding spaces that suit them (LooC, table 5)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from unshortcut.errors import UsageError, unknown
from unshortcut.reproduction.claim import Axis, Claim, MeasureColumn, Scale, Variant, paper_metrics
from unshortcut.reproduction.claims._looc import COLOR, PRINTED, ROTATION, SMALL_NOTE, TEST
from unshortcut.reproduction.effects import Effect, difference
from unshortcut.reproduction.measures.spaces import ALL, SpacesMeasure, of_subset, subset_name
from unshortcut.reproduction.registration import Registration

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

INVARIANT = "invariant"
"""`methods.looc.INVARIANT`, which takes seconds to import."""


def _better(own: str, other: str) -> tuple[tuple[str, str], ...]:
    both = f"{INVARIANT}+{own}"
    return ((own, INVARIANT), (own, other), (both, INVARIANT), (ALL, INVARIANT))


_BETTER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "test": tuple(
        (better, INVARIANT) for better in (f"{INVARIANT}+color", f"{INVARIANT}+rotation", ALL)
    ),
    "color": _better("color", "rotation"),
    "rotation": _better("rotation", "color"),
}
"""By task: pairs of subsets, the first of which is predicted to do better."""
_SMALL_SUBSETS = (
    *(INVARIANT, "color", "rotation"),
    *(f"{INVARIANT}+color", f"{INVARIANT}+rotation", "color+rotation", ALL),
)


def _label(subset: str) -> str:
    return f"spaces={subset}"


class LoocSpaces(Claim):
    """One training of LooC++ per seed, probed on every subset of its spaces."""

    name = "looc-spaces"
    summary = "tasks differ in the spaces of LooC++ that suit them"
    where = "leave-one-out contrastive learning, table 5"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "looc-pp-color-rotation-shapes",
        "paper": "looc-pp-color-rotation-texture-imagenet100",
    }
    protocol = "looc"
    x = "spaces"
    columns = (
        TEST,
        MeasureColumn("conflict", "conflict, shape"),
        COLOR,
        ROTATION,
        MeasureColumn("position", "position"),
    )
    measures = (SpacesMeasure(),)
    notes = (
        SMALL_NOTE,
        "All variants are one training, probed on different spaces. The paper's `all` also has "
        "a space for texture; color stands next to iNat-1k. Nothing is predicted for conflicting "
        "cues and for the position, which have no space of their own.",
    )
    registration = Registration(
        order=14,
        seeds=3,
        arms=tuple(map(_label, _SMALL_SUBSETS)),
        primary=difference("rotation", _label("rotation"), _label(INVARIANT), 1),
    )

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        return (Axis("spaces", tuple(_subsets(self.base_recipe(scale))), lambda value: ()),)

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        """The same recipe for all variants; refused if it has no such spaces."""
        known, subset = _subsets(base), variant.values["spaces"]
        if subset not in known:
            raise unknown("subset of the recipe's spaces", subset, known)
        return base

    def read(self, variant: Variant, metrics: Mapping[str, float]) -> Mapping[str, float]:
        return of_subset(metrics, variant.values["spaces"])

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        spaces = values["spaces"]
        prefix = "" if spaces == ALL else f"{spaces.replace('+', '_')}_"
        metrics = paper_metrics(self.recipes["paper"])
        keys = {measure: f"{prefix}{metric}" for measure, metric in PRINTED.items()}
        return {measure: metrics[key] for measure, key in keys.items() if key in metrics}

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        invariant = _label(INVARIANT)
        found: list[Effect] = []
        for column in self.columns:
            task = column.measure
            found += [
                difference(task, _label(better), _label(worse), 1)
                for better, worse in _BETTER.get(task, ())
            ]
            if task not in _BETTER:
                found.append(difference(task, _label(ALL), invariant))
        return found


def _subsets(recipe: "AnyRecipe") -> list[str]:
    """The names of all subsets of the spaces of a recipe."""
    from unshortcut.methods.looc import LooCSettings
    from unshortcut.recipes.load import load_recipe
    from unshortcut.spaces.subsets import subsets_of

    settings = load_recipe(recipe).method
    if not isinstance(settings, LooCSettings):
        raise UsageError(
            f"--recipe: the method must be looc, which has spaces, not {settings.name}"
        )
    spaces = (INVARIANT, *settings.spaces)
    return [subset_name(subset, spaces) for subset in subsets_of(spaces)]
