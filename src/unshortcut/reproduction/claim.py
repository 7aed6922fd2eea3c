"""What a claim is: variants of a recipe, what is measured of them, and which effects it predicts.

A claim is found by being in `claims/`: a class with a `name`, which `unshortcut reproduce` takes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal

from unshortcut.discovery import find, find_all
from unshortcut.errors import UsageError, unknown
from unshortcut.recipes.load import AnyRecipe
from unshortcut.reproduction.effects import Effect
from unshortcut.reproduction.measure import Measure

Scale = Literal["small", "paper"]
"""`small`: two cores, minutes a training; `paper`: the paper's data and sizes."""

_PACKAGE = "unshortcut.reproduction.claims"


@dataclass(frozen=True)
class Axis:
    """One thing that is varied: its values, and the changes to a recipe that a value stands for."""

    name: str
    values: tuple[str, ...]
    changes: Callable[[str], tuple[str, ...]]


def setting(name: str, key: str, values: Iterable[object]) -> Axis:
    """The axis of one key of the recipe."""
    return Axis(name, tuple(map(str, values)), lambda value: (f"{key}={value}",))


@dataclass(frozen=True)
class Variant:
    """One place on every axis: a recipe with changes."""

    values: Mapping[str, str]
    """By axis."""
    changes: tuple[str, ...]
    """`key=value`."""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(f"{axis}={value}" for axis, value in self.values.items())

    @property
    def label(self) -> str:
        """`queue=128 alpha=2`."""
        return " ".join(self.parts)


@dataclass(frozen=True)
class Column:
    """A measure that people are shown."""

    measure: str
    title: str
    paper: str | None = None
    """What the paper measured in its place."""
    digits: int = 1
    """Decimal places of a mean; a difference is given one more."""


class Claim(ABC):
    """One claim of a paper as an experiment; every variant is trained with every seed."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line."""
    where: ClassVar[str]
    """Its place in the papers."""
    recipes: ClassVar[Mapping[Scale, str]]
    """What is varied; where recipes are compared, that of the first row."""
    x: ClassVar[str]
    """The axis that the plot runs along; other axes are lines of their own."""
    columns: ClassVar[tuple[Column, ...]]
    measures: ClassVar[tuple[Measure, ...]]
    notes: ClassVar[tuple[str, ...]] = ()
    """What a reader of the result must know."""

    @abstractmethod
    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        """What is varied: every combination of values is a variant."""

    @abstractmethod
    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        """What is predicted of these variants; those that need others are left out by the caller.

        Of a measure that the data do not allow, too.
        """

    def paper(self, values: Mapping[str, str]) -> Mapping[str, float]:
        """The paper's metrics of a variant by measure, where it prints them."""
        return {}

    def recipe(self, variant: Variant, base: AnyRecipe) -> AnyRecipe:
        """What the changes of a variant are made to: the recipe that is varied.

        A claim that compares recipes gives that of the variant, for the same data as `base`.
        """
        return base

    def read(self, variant: Variant, metrics: Mapping[str, float]) -> Mapping[str, float]:
        """The metrics of a variant, by measure, out of all that were measured of its training.

        Variants that differ in nothing but what is read of it share a training.
        """
        return metrics

    def variants(
        self, scale: Scale, values: Mapping[str, Sequence[str]] | None = None
    ) -> list[Variant]:
        """All variants; `values` replaces those of an axis."""
        values = values or {}
        axes = self.axes(scale)
        for name in values:
            if name not in (known := [axis.name for axis in axes]):
                raise unknown(f"axis of {self.name}", name, known)
        chosen = [values.get(axis.name, axis.values) for axis in axes]
        return [
            Variant(
                {axis.name: value for axis, value in zip(axes, place, strict=True)},
                tuple(
                    change
                    for axis, value in zip(axes, place, strict=True)
                    for change in axis.changes(value)
                ),
            )
            for place in product(*chosen)
        ]


def all_claims() -> dict[str, Claim]:
    """All claims by name."""
    found = find_all(_PACKAGE, Claim)  # type: ignore[type-abstract]
    return {name: found[name]() for name in sorted(found)}


def claim_named(name: str) -> Claim:
    """The claim of a name, or a `UsageError` that gives the nearest known one."""
    return find(_PACKAGE, Claim, name, "claim")()  # type: ignore[type-abstract]


def keep_only(variants: Sequence[Variant], only: Sequence[str]) -> list[Variant]:
    """The variants of a label, or with one of its parts: `alpha=2`, `queue=128 alpha=2`."""
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
