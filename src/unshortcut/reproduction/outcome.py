"""What came of a claim: every figure, and every effect that could be looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from unshortcut.reproduction.asked import Asked
from unshortcut.reproduction.claim import Claim, Column, Variant
from unshortcut.reproduction.effects import Finding
from unshortcut.reproduction.trainings import Training


@dataclass(frozen=True)
class Reproduction:
    """A claim with the metrics of its variants."""

    claim: Claim
    asked: Asked
    folder: Path
    """Holds `result.json` and `plot.png`."""
    variants: Sequence[Variant]
    trainings: Sequence[Training]
    metrics: dict[str, list[dict[str, float]]]
    """By variant: for each seed, metrics by measure."""
    trained: int
    """Trainings that were not there before."""

    @cached_property
    def columns(self) -> list[Column]:
        """The claim's columns that were measured, then the data that the user added."""
        measured = set.intersection(*(set(one) for seeds in self.metrics.values() for one in seeds))
        known = {column.measure for column in self.claim.columns}
        given = [*self.asked.tests, *self.asked.transfers]
        added = [Column(name, name) for name in given if name not in known]
        return [column for column in (*self.claim.columns, *added) if column.measure in measured]

    @cached_property
    def findings(self) -> list[Finding]:
        """The effects that can be looked at with these variants and measures."""
        measured = {column.measure for column in self.columns}
        paper = {variant.label: self.claim.paper(variant.values) for variant in self.variants}
        return [
            effect.find(self.metrics, paper)
            for effect in self.claim.effects(self.variants)
            if effect.measure in measured and self.metrics.keys() >= set(effect.variants)
        ]

    def values(self, variant: Variant, column: Column) -> list[float]:
        """The metrics of a variant, one a seed."""
        return [one[column.measure] for one in self.metrics[variant.label]]
