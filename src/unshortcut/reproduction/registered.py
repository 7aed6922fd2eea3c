"""The registered claims: their order, commands and plans, and the trainings that they share."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from rich.console import Console

from unshortcut.reproduction.claim import Claim, all_claims
from unshortcut.reproduction.plan import Plan, plan_request
from unshortcut.reproduction.request import ReproductionRequest
from unshortcut.reproduction.scales import REGISTERED
from unshortcut.reproduction.training_job import TrainingJob


def registered_claims(claims: Iterable[Claim] | None = None) -> list[Claim]:
    """All claims with a registration, in its order."""
    claims = all_claims().values() if claims is None else claims
    orders = {claim.name: one.order for claim in claims if (one := claim.registration) is not None}
    return sorted((c for c in claims if c.name in orders), key=lambda claim: orders[claim.name])


def registered_command(claim: Claim, jobs: int = 2) -> str:
    """The command that decides a claim."""
    return f"unshortcut reproduce {claim.name} --scale {REGISTERED} --jobs {jobs}"


def registered_plan(claim: Claim, cache: str | Path | None = None) -> Plan:
    """The plan of the registered experiment of a claim."""
    assert claim.registration is not None, "only registered claims have such a plan"
    seeds, recipe = claim.registration.seeds, claim.base_recipe(REGISTERED)
    request = ReproductionRequest(
        claim.name, "", seeds, REGISTERED, recipe, (), {}, (), None, {}, {}
    )
    return plan_request(claim, request, None, cache, Console(quiet=True))


class SharedMeasures:
    """Measures a training for a claim, and for all registered claims that share the training.

    The metrics of a training may outlive its weights, which take a thousand times as much space.
    Without weights, a claim that measures something else would have to train again.
    """

    def __init__(self, plan: Plan, claims: Iterable[Claim] | None = None) -> None:
        self.plan = plan
        self._claims = claims

    def __call__(self, training: TrainingJob) -> dict[str, float]:
        """The metrics of the claim; those of the other claims are stored beside them."""
        found = self.plan.measure(training)
        if self.plan.request.scale == REGISTERED and training.run.weights.is_file():
            for other in self._others:
                if any(training.key == shared.key for shared in other.distinct):
                    other.measure(training)
        return found

    @cached_property
    def _others(self) -> list[Plan]:
        claims = registered_claims(self._claims)
        own = self.plan.claim.name
        return [registered_plan(one, self.plan.root) for one in claims if one.name != own]
