"""The outcome of reproducing a claim: metrics, effects, and their `result.json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unshortcut.files import write_json
from unshortcut.plain_yaml import parse_set
from unshortcut.reproduction.claim import Claim, MeasureColumn, Variant
from unshortcut.reproduction.effects import Effect, EffectResult, PaperMetrics
from unshortcut.reproduction.request import (
    ReproductionRequest,
    public_data_name,
    public_recipe_name,
)
from unshortcut.reproduction.training_job import TrainingJob
from unshortcut.result import commit, package_version
from unshortcut.training.resume import HARMLESS


@dataclass(frozen=True)
class Reproduction:
    """A claim with the metrics of its variants and the effects found in them."""

    claim: Claim
    request: ReproductionRequest
    folder: Path
    """Holds `result.json` and `plot.png`."""
    variants: Sequence[Variant]
    trainings: Sequence[TrainingJob]
    metrics: dict[str, list[dict[str, float]]]
    """By variant, one mapping per seed: metrics by measure."""
    trained: int
    """Number of trainings that this command ran."""
    data_notes: Sequence[str] = ()
    """What the measures say of the data."""

    @property
    def notes(self) -> list[str]:
        """Remarks on the claim and on the data."""
        return [*self.claim.notes, *self.data_notes]

    @cached_property
    def columns(self) -> list[MeasureColumn]:
        """Columns of the claim that were measured, followed by the data that the user added."""
        measured = set.intersection(*(set(one) for seeds in self.metrics.values() for one in seeds))
        known = {column.measure for column in self.claim.columns}
        given = [*self.request.tests, *self.request.transfers]
        added = [MeasureColumn(name, name) for name in given if name not in known]
        return [column for column in (*self.claim.columns, *added) if column.measure in measured]

    @cached_property
    def findings(self) -> list[EffectResult]:
        """The effects that these variants and measures allow to estimate."""
        return [
            effect.find(self.metrics, self._paper)
            for effect in self.claim.effects(self.variants)
            if self._allows(effect)
        ]

    @cached_property
    def primary(self) -> EffectResult | None:
        """The registered effect, which decides the claim; None at another scale than its own."""
        registered = self.claim.registered(self.request.scale)
        if registered is None or not self._allows(registered.primary):
            return None
        return registered.primary.find(self.metrics, self._paper)

    @property
    def is_registered(self) -> bool:
        """Whether this is the registered experiment: its arms, seeds, recipes and data.

        Changes that cannot change the weights, such as `data.workers=0`, do not matter.
        """
        request, registered = self.request, self.claim.registered(self.request.scale)
        changed = {key for change in request.sets for key in parse_set(change)} - HARMLESS
        if registered is None or changed or request.values or request.only:
            return False
        recipe, data = self.claim.base_recipe(request.scale), self.trainings[0].recipe.data.name
        as_it_stands = (request.recipe, request.data) == (recipe, data)
        return as_it_stands and request.seeds == registered.seeds

    def _allows(self, effect: Effect) -> bool:
        measured = {column.measure for column in self.columns}
        return effect.measure in measured and self.metrics.keys() >= effect.variants

    @cached_property
    def _paper(self) -> PaperMetrics:
        return {variant.label: self.claim.paper(variant.values) for variant in self.variants}

    def values(self, variant: Variant, column: MeasureColumn) -> list[float]:
        """The values of a measure for a variant, one per seed."""
        return [one[column.measure] for one in self.metrics[variant.label]]

    def minutes(self, variant: Variant) -> list[float]:
        """Minutes of the variant's trainings whose duration is known."""
        own = [job.seconds for job in self._own(variant)]
        return [seconds / 60 for seconds in own if seconds is not None]

    def write(self, path: Path) -> None:
        """Write `result.json`, without host name and absolute paths, so that it can be shared."""
        claim, request = self.claim, self.request
        result: dict[str, Any] = {
            "command": request.command(),
            "version": package_version(),
            "commit": commit(),
            "trained_with": sorted({job.commit or "unknown" for job in self.trainings}),
            "claim": claim.name,
            "where": claim.where,
            "scale": request.scale,
            "data": public_data_name(request.data),
            "recipe": public_recipe_name(request.recipe),
            "seeds": list(range(request.seeds)),
            "variants": {variant.label: self._variant(variant) for variant in self.variants},
            "registered": self.is_registered,
            "primary": None if self.primary is None else self.primary.to_dict(),
            "effects": [finding.to_dict() for finding in self.findings],
            "notes": self.notes,
        }
        write_json(path, result)

    def _variant(self, variant: Variant) -> dict[str, Any]:
        own = self._own(variant)
        return {
            "recipe": public_recipe_name(self.claim.recipe(variant, self.request.recipe)),
            "changes": list(variant.changes),
            "trainings": [job.key for job in own],
            "seconds": [None if job.seconds is None else round(job.seconds, 1) for job in own],
            "metrics": self.metrics[variant.label],
            "paper": dict(self.claim.paper(variant.values)),
        }

    def _own(self, variant: Variant) -> list[TrainingJob]:
        return [job for job in self.trainings if job.variant == variant.label]
