"""At the paper scale linear classifiers are trained by the protocol of the paper, on new crops."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.reproduction.measures.oracles import EVALUATION, knows_color, model_of
from tests.reproduction.small import RECIPE, SmallClaim, all_tests, images
from unshortcut.probes import protocols
from unshortcut.probes.base import ProbeResult
from unshortcut.probes.protocols import NSN
from unshortcut.reproduction import plan as plan_module
from unshortcut.reproduction import reproduce
from unshortcut.reproduction.claim import Claim, all_claims
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure
from unshortcut.reproduction.measures.spaces import SpacesMeasure
from unshortcut.reproduction.measures.tasks import FactorsMeasure, TransferMeasure

PAPER = replace(EVALUATION, protocol="nsn")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(protocols.PROTOCOLS, "nsn", replace(NSN, lr=1, epochs=2, drops=(1,)))


@pytest.mark.parametrize("claim", all_claims().values(), ids=lambda claim: claim.name)
def test_every_claim_has_the_protocol_of_its_paper(claim: Claim) -> None:
    paper, _, _ = claim.name.partition("-")
    expected = {"looc": "looc", "negatives": "nsn", "photographs": "moco", "texture": "moco"}
    expected |= {"transfer": "moco", "can": "mae", "object": "moco", "hyperbolic": "moco"}
    expected |= {"label": None}  # decided by the classifier of the training itself
    assert claim.protocol == expected[paper]


class WithProtocol(SmallClaim):
    protocol: ClassVar[str | None] = "nsn"
    measures: ClassVar[Any] = (LinearProbeMeasure(seeds=1),)


class StoppedError(Exception):
    """Raised with the protocol of the evaluation, before anything is trained."""


@pytest.mark.parametrize(("scale", "protocol"), [("small", None), ("paper", "nsn")])
def test_the_scale_decides_whether_the_protocol_is_used(
    scale: Any, protocol: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = plan_module.Evaluation

    def stop(*arguments: Any, **named: Any) -> None:
        raise StoppedError(evaluation(*arguments, **named).protocol)

    monkeypatch.setattr(plan_module, "Evaluation", stop)
    settings: dict[str, Any] = {"recipe": RECIPE, "tests": all_tests(), "scale": scale}
    with pytest.raises(StoppedError) as stopped:
        reproduce(WithProtocol(), images(), cache=tmp_path, **settings)
    assert stopped.value.args == (protocol,)


def test_probes_train_on_new_crops_and_conflicts_keep_their_shape_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[dict[str, Any]] = []
    trained = ProbeResult.means

    def means(self: ProbeResult) -> dict[str, float]:
        seen.append({"kind": self.kind, **self.training})
        return trained(self)

    monkeypatch.setattr(ProbeResult, "means", means)
    monkeypatch.setattr("unshortcut.models.load.load_model", lambda run: model_of(knows_color))
    found = LinearProbeMeasure(seeds=1).compute(Path("nowhere"), PAPER)
    assert {"test", "conflict", "shape_bias"} <= set(found)
    assert "protocol" not in seen[0] and (seen[1]["protocol"], seen[1]["views"]) == ("nsn", "fresh")
    FactorsMeasure(seeds=1).compute(Path("nowhere"), PAPER)
    assert {one["kind"] for one in seen[2:]} == {"rotation", "linear"}
    assert {one["views"] for one in seen[2:]} == {"fresh"}


def test_metrics_of_a_protocol_are_others_than_those_of_the_solver() -> None:
    for measure in (LinearProbeMeasure(), FactorsMeasure(), SpacesMeasure(), TransferMeasure()):
        assert measure.dependencies(PAPER) != measure.dependencies(EVALUATION)
