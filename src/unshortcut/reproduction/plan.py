"""The plan of an experiment: every training of a request, and how it is measured.

A plan is made again from the same request in every process that works on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.data.naming import Data
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import cache_folder
from unshortcut.plain_yaml import parse_set
from unshortcut.recipes.load import load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction.claim import Claim, Variant, select_variants
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.identity import training_key, without_absent
from unshortcut.reproduction.measure import Measure, load_metrics, load_or_compute
from unshortcut.reproduction.proposal_step import ProposalStep
from unshortcut.reproduction.request import ReproductionRequest
from unshortcut.reproduction.scales import scale_recipe
from unshortcut.reproduction.training_job import TrainingJob


@dataclass(frozen=True)
class Plan:
    """The trainings of an experiment on a claim."""

    claim: Claim
    request: ReproductionRequest
    root: Path
    """Folder in which trainings are stored."""
    console: Console
    _recipes: dict[str, Recipe] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By label of a variant: its recipe before its own changes."""

    @cached_property
    def variants(self) -> list[Variant]:
        request = self.request
        variants = self.claim.variants(request.scale, request.values)
        return select_variants(variants, request.only)

    @cached_property
    def trainings(self) -> list[TrainingJob]:
        """Every variant with every seed, seed by seed, so that finished ones can be compared."""
        return [
            self._training(variant, seed)
            for seed, variant in product(range(self.request.seeds), self.variants)
        ]

    @cached_property
    def distinct(self) -> list[TrainingJob]:
        """Each distinct training once, named after the first of its variants."""
        shared: dict[str, list[TrainingJob]] = {}
        for training in self.trainings:
            shared.setdefault(training.key, []).append(training)
        return [
            replace(first, variant=f"{first.variant} (and {len(more)} more)") if more else first
            for first, *more in shared.values()
        ]

    @cached_property
    def evaluation(self) -> Evaluation:
        request = self.request
        protocol = self.claim.protocol if request.scale == "paper" else None
        return Evaluation(
            request.data, request.tests, request.transfers, request.probe_data, protocol,
            self.console, conflict_data=request.conflict, hierarchy_file=request.hierarchy,
        )  # fmt: skip

    @cached_property
    def dependencies(self) -> dict[Measure, dict[str, Any]]:
        """What the metrics of each measure depend on; a `UsageError` if the data do not allow it.

        Computed before any training, so that problems with the data are found early.
        """
        return {measure: measure.dependencies(self.evaluation) for measure in self.claim.measures}

    @cached_property
    def notes(self) -> list[str]:
        """What the measures say of the data."""
        return [note for one in self.claim.measures for note in one.notes(self.evaluation)]

    def measure(self, training: TrainingJob) -> dict[str, float]:
        """All metrics of a finished training, from an earlier command or computed now."""
        found: dict[str, float] = {}
        for measure, depends in self.dependencies.items():
            found |= load_or_compute(training, measure, depends, self.evaluation)
        return found

    def stored(self, training: TrainingJob) -> dict[str, float] | None:
        """All metrics of a training, if it is finished and every measure of it is stored."""
        found: dict[str, float] = {}
        for measure, depends in self.dependencies.items():
            known = load_metrics(training, measure, depends) if training.finished else None
            if known is None:
                return None
            found |= known
        return found

    def by_variant(
        self, metrics: Mapping[str, Mapping[str, float]], seeds: int | None = None
    ) -> dict[str, list[dict[str, float]]]:
        """Metrics by key of the training, as those of each variant for the first seeds."""
        seeds = self.request.seeds if seeds is None else seeds
        found: dict[str, list[dict[str, float]]] = {v.label: [] for v in self.variants}
        pairs = list(zip(self.trainings, self.variants * self.request.seeds, strict=True))
        for training, variant in pairs[: seeds * len(self.variants)]:
            chosen = self.claim.read(variant, metrics[training.key])
            found[variant.label].append(dict(chosen))
        return found

    def _training(self, variant: Variant, seed: int) -> TrainingJob:
        changes = [*variant.changes, f"seed={seed}"]
        recipe = without_absent(load_recipe(self._recipe(variant), changes))
        step = self._proposals(variant, recipe)
        key = training_key(recipe, self._source, None if step is None else step.identity)
        return TrainingJob(variant.label, recipe, self.request.data, self.root / key, step)

    def _proposals(self, variant: Variant, recipe: Recipe) -> ProposalStep | None:
        """The boxes to propose before a training, by the encoder of another one if it says so."""
        proposing, objects = self.claim.proposing(variant), recipe.views.objects
        if proposing is None:
            return None
        assert objects is not None, "boxes are proposed for views of objects"
        model = None
        if proposing.model_of is not None:
            every = {one.label: one for one in self.claim.variants(self.request.scale)}
            model = self._training(every[proposing.model_of], recipe.seed)
        data, content = self.request.data, self._source.fingerprint()
        return ProposalStep(proposing, objects.most, data, content, self.root, model)

    @cached_property
    def _source(self) -> ImageSource:
        return open_data(self.request.data)

    def _recipe(self, variant: Variant) -> Recipe:
        if variant.label not in self._recipes:
            self._recipes[variant.label] = variant_recipe(self.claim, variant, self.request)
        return self._recipes[variant.label]


def plan_request(
    claim: Claim,
    request: ReproductionRequest,
    data: Data | None,
    cache: str | Path | None,
    console: Console,
) -> Plan:
    """The plan of a request whose data are still to be named; refuses what cannot be run."""
    names = ("tests", "transfers", "conflict", "hierarchy")
    check_used(claim, {name: getattr(request, name) for name in names})
    root = Path(cache) if cache is not None else cache_folder() / "trainings"
    variants = Plan(claim, request, root, console).variants
    check_sets(request.sets, variants)
    recipes = [variant_recipe(claim, variant, request) for variant in variants]
    spec = data if data is not None else recipes[0].data.name
    if spec is None:
        raise UsageError("the recipe names no data; say which with --data")
    named = replace(request, data=spec if isinstance(spec, ImageSource) else str(spec))
    plan = Plan(claim, named, root, console)
    _ = plan.trainings, plan.dependencies  # problems are found before any training
    return plan


def variant_recipe(claim: Claim, variant: Variant, request: ReproductionRequest) -> Recipe:
    """The recipe of a variant before its own changes: at the scale, with those of the user."""
    registered = claim.registered(request.scale)
    own = () if registered is None else registered.changes
    recipe = load_recipe(claim.recipe(variant, request.recipe))
    return load_recipe(scale_recipe(recipe, request.scale, own), request.sets)


def check_sets(sets: Sequence[str], variants: Sequence[Variant]) -> None:
    """Refuse changes to keys that the experiment varies itself."""
    varied = {
        key for variant in variants for change in variant.changes for key in parse_set(change)
    }
    for key in (key for change in sets for key in parse_set(change)):
        if key == "seed":
            raise UsageError("--set seed: the seeds are 0, 1, …; --seeds gives their number")
        if key in varied:
            message = f"--set {key}: the claim varies it itself; --values gives other values"
            raise UsageError(message)


def check_used(claim: Claim, given: Mapping[str, object]) -> None:
    """Refuse data that no measure of the claim uses."""
    used = {name for measure in claim.measures for name in measure.uses}
    for name, data in given.items():
        if data and name not in used:
            raise UsageError(f"{claim.name} does not use {name}")
