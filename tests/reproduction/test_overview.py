"""All registered claims: what is decided, what is left, and the order in which they run."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.console import Console

from tests.reproduction.registered import (
    SECONDS,
    EarlierClaim,
    Pretended,
    RegisteredClaim,
    pretend,
)
from tests.reproduction.small import SmallClaim
from unshortcut.errors import InterruptedRunError, RunError
from unshortcut.reproduction import overview
from unshortcut.reproduction.claim import Claim, all_claims
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.reproduction.overview import claim_status, reproduce_all, status_table
from unshortcut.reproduction.registered import SharedMeasures, registered_claims, registered_plan


def rows(statuses: list[overview.ClaimStatus]) -> list[list[str]]:
    table = status_table(statuses)
    return [list(cells) for cells in zip(*(column.cells for column in table.columns), strict=True)]  # type: ignore[arg-type]


def test_claims_come_in_their_order_and_unregistered_ones_do_not() -> None:
    claims: list[Claim] = [RegisteredClaim(), SmallClaim(), EarlierClaim()]
    assert [claim.name for claim in registered_claims(claims)] == ["earlier", "registered"]
    without = {"can", "photographs"}
    assert {claim.name for claim in registered_claims()} == all_claims().keys() - without


def test_a_claim_is_decided_when_all_registered_seeds_are_there(tmp_path: Path) -> None:
    new = claim_status(RegisteredClaim(), tmp_path)
    assert (new.word, new.seeds_done, len(new.missing)) == ("not decided", 0, 6)
    assert rows([new])[0][4] == "at most 3.0"

    pretend(new, {"alpha=0": [70.0, 71.0], "alpha=2": [80.0, 81.1, 80.0]})
    part = claim_status(RegisteredClaim(), tmp_path)
    assert (part.word, part.seeds_done, len(part.missing)) == ("not decided", 2, 1), (
        "two seeds would show the effect, but three are registered"
    )
    (row,) = rows([part])
    assert row[1:4] == ["not decided", "2 of 3", "5 of 6"]
    assert float(row[4]) == pytest.approx(SECONDS / 3600, abs=0.05)
    assert row[5] == "unshortcut reproduce registered --scale laptop --jobs 2"


@pytest.mark.parametrize(
    ("with_patches", "word"),
    [
        ([80.0, 81.1, 80.0], "appears"),
        ([60.0, 61.1, 60.0], "reversed"),
        ([70.1, 71.0, 69.9], "no effect"),
        ([90.0, 50.0, 70.0], "not decided"),
    ],
)
def test_the_word_is_that_of_the_primary_effect(
    with_patches: list[float], word: str, tmp_path: Path
) -> None:
    values = {"alpha=0": [70.0, 71.0, 70.0], "alpha=2": with_patches}
    pretend(claim_status(RegisteredClaim(), tmp_path), values)
    done = claim_status(RegisteredClaim(), tmp_path)
    assert (done.word, done.missing) == (word, [])
    assert rows([done])[0][4] == "0"


def test_trainings_that_claims_share_count_once_in_the_sum(tmp_path: Path) -> None:
    both = [claim_status(claim, tmp_path) for claim in (EarlierClaim(), RegisteredClaim())]
    pretend(both[0], {"alpha=0": [70.0, 71.0], "alpha=2": [80.0, 81.0]})
    found = rows([claim_status(status.claim, tmp_path) for status in both])
    assert [row[3] for row in found] == ["4 of 4", "4 of 6", "4 of 6"]


def test_all_runs_every_claim_in_order_and_a_failure_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, Any]] = []

    def pretended(claim: Claim, **settings: Any) -> str:
        calls.append((claim.name, settings["scale"], settings["jobs"]))  # type: ignore[arg-type]
        if claim.name == "earlier":
            raise RunError("the loss is nan")
        return claim.name

    monkeypatch.setattr(overview, "reproduce", pretended)
    console = Console(quiet=True)
    with pytest.raises(RunError, match="failed: earlier; the same command"):
        reproduce_all([EarlierClaim(), RegisteredClaim()], jobs=2, cache=tmp_path, console=console)
    assert calls == [("earlier", "laptop", 2), ("registered", "laptop", 2)]


def test_a_signal_stops_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(claim: Claim, **settings: Any) -> None:
        raise InterruptedRunError("stopped", 15)

    monkeypatch.setattr(overview, "reproduce", stopped)
    with pytest.raises(InterruptedRunError):
        reproduce_all([EarlierClaim(), RegisteredClaim()], console=Console(quiet=True))


@pytest.mark.parametrize(
    ("changed", "registered"),
    [
        ({}, True),
        ({"sets": ("data.workers=0",)}, True),  # changes no weight
        ({"sets": ("schedule.epochs=3",)}, False),
        ({"seeds": 2}, False),
        ({"seeds": 4}, False),
        ({"only": ("alpha=0",)}, False),
        ({"values": {"alpha": ["0", "5"]}}, False),
        ({"recipe": "moco-v2-shapes"}, False),
        ({"data": "cifar10"}, False),
        ({"scale": "small"}, False),
    ],
)
def test_a_result_says_whether_it_is_the_registered_experiment(
    changed: dict[str, Any], registered: bool, tmp_path: Path
) -> None:
    plan = claim_status(RegisteredClaim(), tmp_path).plan
    request = replace(plan.request, **changed)
    metrics: dict[str, list[dict[str, float]]] = {v.label: [] for v in plan.variants}
    outcome = Reproduction(plan.claim, request, tmp_path, plan.variants, plan.trainings, metrics, 0)
    assert outcome.is_registered is registered


class Elsewhere(Pretended):
    """Another measure of the same run."""

    name: ClassVar[str] = "elsewhere"

    def compute(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        return {"length": float(len((run / "value.txt").read_text()))}


class SharingClaim(EarlierClaim):
    """Measures something else of the same trainings."""

    name: ClassVar[str] = "sharing"
    measures: ClassVar[tuple[Measure, ...]] = (Elsewhere(),)


def test_a_training_is_measured_for_every_claim_that_shares_it(tmp_path: Path) -> None:
    plan, sharing = registered_plan(RegisteredClaim(), tmp_path), SharingClaim()
    pretend(claim_status(RegisteredClaim(), tmp_path), {"alpha=0": [70.5] * 3, "alpha=2": [8.0]})
    measure = SharedMeasures(plan, [sharing, RegisteredClaim()])
    first, second, _, _, third, _ = plan.trainings  # seed by seed; seed 2 is not shared
    assert measure(first) == {"test": 70.5}
    second.run.weights.unlink()  # only its metrics are left
    assert measure(second) == {"test": 8.0}
    assert measure(third) == {"test": 70.5}
    shared = registered_plan(sharing, tmp_path)
    stored = [shared.stored(one) for one in (first, second, third)]
    assert stored == [{"length": 4.0}, None, None]
