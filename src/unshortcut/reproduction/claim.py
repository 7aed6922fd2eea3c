"""A claim: variants of a recipe, the measures taken of them, and the effects it predicts.

A class with a `name` in a file of `claims/` is found by `unshortcut reproduce`. Claims and measures
import what trains and measures inside their functions, so that listing claims is quick.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from unshortcut.discovery import find, find_all
from unshortcut.errors import UsageError, unknown
from unshortcut.recipes.reading import read_recipe
from unshortcut.reproduction.effects import Effect
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.registration import Registration
from unshortcut.reproduction.scales import REGISTERED, SCALES, Scale

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

_PACKAGE = "unshortcut.reproduction.claims"


@dataclass(frozen=True)
class Axis:
    """Something that is varied: its values, and the changes to a recipe that each value means."""

    name: str
    values: tuple[str, ...]
    changes: Callable[[str], tuple[str, ...]]


def setting(name: str, key: str, values: Iterable[object]) -> Axis:
    """An axis that varies one key of the recipe."""
    return Axis(name, tuple(map(str, values)), lambda value: (f"{key}={value}",))


def choices(name: str, changes: Mapping[str, tuple[str, ...]]) -> Axis:
    """An axis with a fixed set of values and their changes; others are refused."""

    def look_up(value: str) -> tuple[str, ...]:
        if value not in changes:
            raise unknown(f"value of {name}", value, changes)
        return changes[value]

    return Axis(name, tuple(changes), look_up)


@dataclass(frozen=True)
class Variant:
    """One value on every axis: a recipe with changes."""

    values: Mapping[str, str]
    """Value by axis."""
    changes: tuple[str, ...]
    """Changes to the recipe, `key=value`."""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(f"{axis}={value}" for axis, value in self.values.items())

    @property
    def label(self) -> str:
        """The name of the variant, e.g. `queue=128 alpha=2`."""
        return " ".join(self.parts)


@dataclass(frozen=True)
class Proposing:
    """How boxes of objects are proposed for the training images of a variant."""

    method: str
    """A method of `unshortcut propose`."""
    settings: Mapping[str, object] = field(default_factory=dict)
    model_of: str | None = None
    """The label of the variant whose encoder of the same seed is the model, if one is needed."""


@dataclass(frozen=True)
class MeasureColumn:
    """A measure that is shown in the tables and plots."""

    measure: str
    title: str
    paper: str | None = None
    """What the paper measured instead."""
    digits: int = 1
    """Decimal places of a mean; a difference is given one more."""


class Claim(ABC):
    """A claim of a paper as an experiment; every variant is trained with every seed."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line."""
    where: ClassVar[str]
    """Where the paper makes the claim."""
    recipes: ClassVar[Mapping[Scale, str]]
    """The recipe that is varied, at the scales `small` and `paper`; `laptop` changes that of
    `small`. For a comparison of recipes, that of the first row."""
    x: ClassVar[str]
    """The horizontal axis of the plot; values of the other axes become lines."""
    columns: ClassVar[tuple[MeasureColumn, ...]]
    measures: ClassVar[tuple[Measure, ...]]
    protocol: ClassVar[str | None] = None
    """How the paper trains its linear classifiers; used at the scale of the paper."""
    notes: ClassVar[tuple[str, ...]] = ()
    """Remarks that are printed with the result."""
    registration: ClassVar[Registration | None] = None
    """The experiment at the scale `laptop` that decides the claim."""

    @abstractmethod
    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        """The axes; every combination of their values is a variant."""

    @abstractmethod
    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        """The predicted effects.

        The caller drops effects that need other variants, or measures that the data do not allow.
        """

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        """The metrics that the paper prints for a variant, by measure."""
        return {}

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        """The recipe that the changes of a variant are applied to.

        A claim that compares recipes returns the recipe of the variant for the data of `base`.
        """
        return base

    def proposing(self, variant: Variant) -> Proposing | None:
        """How boxes are proposed before the training of a variant; None if it needs none."""
        return None

    def read(self, variant: Variant, metrics: Mapping[str, float]) -> Mapping[str, float]:
        """Select the metrics of a variant, by measure, from all metrics of its training.

        Variants that differ only in the metrics selected here share a training.
        """
        return metrics

    def base_recipe(self, scale: Scale) -> str:
        """The recipe that is varied at a scale."""
        return self.recipes[SCALES[scale].recipes]

    def registered(self, scale: Scale) -> Registration | None:
        """The registered experiment, if this is its scale."""
        return self.registration if scale == REGISTERED else None

    def variants(
        self, scale: Scale, values: Mapping[str, Sequence[str]] | None = None
    ) -> list[Variant]:
        """All variants, or the registered ones; `values` replaces the values of axes."""
        values = values or {}
        axes = self.axes(scale)
        for name in values:
            if name not in (known := [axis.name for axis in axes]):
                raise unknown(f"axis of {self.name}", name, known)
        chosen = [values.get(axis.name, axis.values) for axis in axes]
        found = []
        for combination in product(*chosen):
            pairs = list(zip(axes, combination, strict=True))
            changes = tuple(change for axis, value in pairs for change in axis.changes(value))
            found.append(Variant({axis.name: value for axis, value in pairs}, changes))
        registered = self.registered(scale)
        if registered is None or values:
            return found
        return [variant for variant in found if variant.label in registered.arms]


@cache
def paper_metrics(recipe: str) -> Mapping[str, float]:
    """The metrics that the paper prints for the row of a recipe; they stand in the recipe alone."""
    row: Mapping[str, Mapping[str, float]] = read_recipe(recipe).get("paper") or {}
    return row.get("metrics", {})


def all_claims() -> dict[str, Claim]:
    """All claims, by name."""
    found = find_all(_PACKAGE, Claim)  # type: ignore[type-abstract]
    return {name: found[name]() for name in sorted(found)}


def get_claim(name: str) -> Claim:
    """The claim of this name, or a `UsageError` that suggests the nearest one."""
    return find(_PACKAGE, Claim, name, "claim")()  # type: ignore[type-abstract]


def select_variants(variants: Sequence[Variant], only: Sequence[str]) -> list[Variant]:
    """The variants with one of these labels (`queue=128 alpha=2`) or parts of it (`alpha=2`)."""
    known = {name for variant in variants for name in (variant.label, *variant.parts)}
    for name in only:
        if name not in known:
            raise unknown("variant", name, known)
    if not only:
        return list(variants)
    kept = [v for v in variants if v.label in only or any(part in only for part in v.parts)]
    if not kept:
        raise UsageError("--only leaves no variant")
    return kept
