"""All registered claims: what is decided, what is still to run, and running them in their order."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unshortcut.errors import InterruptedRunError, RunError
from unshortcut.reproduction.claim import Claim
from unshortcut.reproduction.effects import NOT_DECIDED, Word
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.reproduction.plan import Plan
from unshortcut.reproduction.registered import registered_command, registered_plan
from unshortcut.reproduction.registration import Registration
from unshortcut.reproduction.run import reproduce
from unshortcut.reproduction.scales import REGISTERED, SCALES
from unshortcut.reproduction.training_job import TrainingJob


@dataclass(frozen=True)
class ClaimStatus:
    """How far the registered experiment of a claim is."""

    plan: Plan
    registration: Registration
    seeds_done: int
    """Seeds of which all arms are trained and measured."""
    word: Word
    """That of the primary effect once all registered seeds are done; before, not decided."""

    @property
    def claim(self) -> Claim:
        return self.plan.claim

    @property
    def trainings(self) -> list[TrainingJob]:
        """The trainings that the claim needs."""
        return self.plan.distinct

    @property
    def missing(self) -> list[TrainingJob]:
        """Those that are not trained yet."""
        return [training for training in self.trainings if not training.finished]


def claim_status(claim: Claim, cache: str | Path | None = None) -> ClaimStatus:
    """The status of a registered claim, from the trainings and metrics that are stored."""
    registration = claim.registration
    assert registration is not None, "only registered claims have a status"
    plan = registered_plan(claim, cache)
    stored = {training.key: plan.stored(training) for training in plan.distinct}
    metrics = {key: one for key, one in stored.items() if one is not None}
    per_seed = len(plan.variants)
    seeds = 0
    while seeds < registration.seeds and all(
        training.key in metrics
        for training in plan.trainings[seeds * per_seed : (seeds + 1) * per_seed]
    ):
        seeds += 1
    word: Word = NOT_DECIDED
    if seeds == registration.seeds:
        paper = {variant.label: claim.paper(variant.values) for variant in plan.variants}
        found = registration.primary.find(plan.by_variant(metrics), paper)
        word = found.verdict or NOT_DECIDED
    return ClaimStatus(plan, registration, seeds, word)


def status_table(statuses: Sequence[ClaimStatus]) -> Table:
    """One row per claim, and one for all of them, which share trainings."""
    table = Table("claim", "word", "seeds", "trainings", "hours left", "command")
    everything = {one.key: one for status in statuses for one in status.trainings}
    pace = _seconds_per_epoch(everything.values())
    for status in statuses:
        done, needed = len(status.trainings) - len(status.missing), len(status.trainings)
        table.add_row(
            status.claim.name,
            status.word,
            f"{status.seeds_done} of {status.registration.seeds}",
            f"{done} of {needed}",
            _hours(status.missing, pace),
            registered_command(status.claim),
        )
    missing = {one.key: one for status in statuses for one in status.missing}
    if len(statuses) > 1:
        table.add_section()
        done = len(everything) - len(missing)
        hours = _hours(list(missing.values()), pace)
        table.add_row("all", "", "", f"{done} of {len(everything)}", hours, "")
    return table


def reproduce_all(
    claims: Sequence[Claim],
    *,
    jobs: int = 1,
    cache: str | Path | None = None,
    console: Console | None = None,
) -> list[Reproduction]:
    """Run the registered experiments in their order; a failed one does not stop the others."""
    console = console or Console(stderr=True)
    outcomes, failed = [], []
    for claim in claims:
        console.print(f"Reproducing {claim.name} at the {REGISTERED} scale", highlight=False)
        try:
            outcomes.append(
                reproduce(claim, scale=REGISTERED, jobs=jobs, cache=cache, console=console)
            )
        except InterruptedRunError:
            raise
        except RunError as error:
            console.print(f"{claim.name} failed: {error}", highlight=False, markup=False)
            failed.append(claim.name)
    if failed:
        raise RunError(f"failed: {', '.join(failed)}; the same command tries again")
    return outcomes


def _seconds_per_epoch(trainings: Iterable[TrainingJob]) -> float | None:
    """Mean duration of an epoch in the trainings that are finished."""
    paces = [
        one.seconds / one.recipe.total_epochs
        for one in trainings
        if one.finished and one.seconds is not None
    ]
    return statistics.fmean(paces) if paces else None


def _hours(missing: Sequence[TrainingJob], seconds_per_epoch: float | None) -> str:
    """Hours of one core for the rest, at the pace of what is finished or at most."""
    if not missing:
        return "0"
    if seconds_per_epoch is None:
        return f"at most {len(missing) * SCALES[REGISTERED].hours:.1f}"
    epochs = sum(one.recipe.total_epochs - one.epochs_done for one in missing)
    return f"{epochs * seconds_per_epoch / 3600:.1f}"
