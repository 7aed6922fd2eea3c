"""Requirements: what can be written, and when one holds."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.auditing.requirements import Requirement, check_requirements, parse_requirements
from unshortcut.errors import UsageError
from unshortcut.measurements.measurement import Measurement, Metric
from unshortcut.measuring.settings import Settings


@dataclass(frozen=True)
class Share:
    value: float


class Half(Measurement[Share]):
    name: ClassVar[str] = "half"
    gives: ClassVar[tuple[str, ...]] = ("half", "half_of_*")

    def measure(self, subject, on_progress):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def metrics(self, result: Share, baseline: Share | None) -> dict[str, Metric]:
        return {"half": Metric("Half", result.value, 0.3, 0.5)}

    def exhibits(self, results, baseline):  # type: ignore[no-untyped-def]
        return []


def findings(**entries: Entry) -> Findings:
    models = {name: ModelInfo("its own head of 2 classes", 8) for name in entries}
    return Findings({"half": Half()}, models, {"half": entries}, "mine", 10, Settings())


@pytest.mark.parametrize(
    ("text", "metric", "sign", "bound"),
    [
        ("shape_bias>=0.4", "shape_bias", ">=", 0.4),
        (" shape_bias >= 40% ", "shape_bias", ">=", 0.4),
        ("mce<.8", "mce", "<", 0.8),
        ("shift_accuracy_sketch>1e-2", "shift_accuracy_sketch", ">", 0.01),
    ],
)
def test_a_requirement_is_read(text: str, metric: str, sign: str, bound: float) -> None:
    read = Requirement.parse(text)
    assert (read.metric, read.sign) == (metric, sign)
    assert read.bound == pytest.approx(bound)


@pytest.mark.parametrize("text", ["shape_bias", "shape_bias=0.4", ">=0.4", "a>=b", "a>=1>=2"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a requirement"):
        Requirement.parse(text)


def test_a_metric_that_nothing_gives_is_found_before_anything_is_measured() -> None:
    texts = ["accuracy>=0.5", "shift_accuracy_sketch>=0"]
    assert [one.metric for one in parse_requirements(texts)] == [
        "accuracy",
        "shift_accuracy_sketch",
    ]
    with pytest.raises(UsageError, match="did you mean 'accuracy'"):
        parse_requirements(["acuracy>=0"])
    with pytest.raises(UsageError, match="unknown metric 'shift_accuracy_sketch'"):
        parse_requirements(texts, only=["confidence"])
    assert parse_requirements([]) == []


def test_every_model_is_checked_and_a_missing_metric_meets_nothing() -> None:
    found = findings(
        good=Entry("done", Share(0.4)),
        bad=Entry("done", Share(0.39)),
        nan=Entry("done", Share(float("nan"))),
        broken=Entry("failed", reason="it fell"),
    )
    checked = {
        one.model: one for one in check_requirements([Requirement.parse("half>=0.4")], found)
    }
    assert {name: one.met for name, one in checked.items()} == {
        "good": True, "bad": False, "nan": False, "broken": False,
    }  # fmt: skip
    assert checked["good"].explanation == "half is 0.4 (0.3 to 0.5)"
    assert checked["broken"].explanation == "half failed: it fell"
    assert not check_requirements([Requirement.parse("half<=1")], found)[2].met
