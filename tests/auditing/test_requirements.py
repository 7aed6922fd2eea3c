"""Requirements: what can be written, and when one holds."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from unshortcut.auditing.audit_files import parse_audit
from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.auditing.previous import PreviousAudit
from unshortcut.auditing.requirements import (
    Requirement,
    RequirementResult,
    check_requirements,
    parse_requirements,
    refuse_incomparable,
)
from unshortcut.errors import UsageError
from unshortcut.measurements.measurement import Measurement, Metric
from unshortcut.measuring.settings import Settings


@dataclass(frozen=True)
class Share:
    value: float


class Half(Measurement[Share]):
    name: ClassVar[str] = "half"
    title: ClassVar[str] = "Half"
    question: ClassVar[str] = "Is it a half?"
    definition: ClassVar[str] = "A share."
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


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("shape_bias>=previous", 0.0),
        ("shape_bias>=previous-0.02", -0.02),
        (" shape_bias >= previous + 2% ", 0.02),
    ],
)
def test_a_requirement_may_be_relative_to_the_previous_audit(text: str, bound: float) -> None:
    read = Requirement.parse(text)
    assert (read.metric, read.sign, read.relative) == ("shape_bias", ">=", True)
    assert read.bound == pytest.approx(bound)
    assert read.is_met(0.5 + bound, previous=0.5)
    assert not read.is_met(0.49 + bound, previous=0.5)


@pytest.mark.parametrize(
    "text",
    ["shape_bias", "shape_bias=0.4", ">=0.4", "a>=b", "a>=1>=2", "a>=previous 1", "a>=previous%",
     "a>=previous*2", "a>=1-previous"],
)  # fmt: skip
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


def before(found: Findings, name: str = "audit.json") -> PreviousAudit:
    """An audit as the previous one."""
    return PreviousAudit(name, parse_audit(found.to_dict()))


def relative(text: str, now: Findings, then: Findings) -> RequirementResult:
    (result,) = check_requirements([Requirement.parse(text)], replace(now, previous=before(then)))
    return result


def test_a_bound_relative_to_the_previous_audit_gives_both_numbers() -> None:
    then, now = (findings(mine=Entry("done", Share(value))) for value in (0.4, 0.38))
    met = relative("half>=previous-0.02", now, then)
    assert met.met
    assert met.explanation == (
        "half is 0.38 (0.3 to 0.5); it was 0.4 (0.3 to 0.5), so that at least 0.38 is required"
    )
    assert not relative("half>=previous-0.019", now, then).met
    assert relative("half<previous", now, then).met


def test_without_the_same_model_data_or_settings_a_relative_bound_is_not_met() -> None:
    then = findings(mine=Entry("done", Share(0.4)), second=Entry("failed", reason="it fell"))
    now = findings(mine=Entry("done", Share(0.4)), other=Entry("done", Share(0.4)))
    requirement, previous = Requirement.parse("half>=previous"), before(then)
    mine, other = check_requirements([requirement], replace(now, previous=previous))
    assert mine.met and not other.met
    assert "has no model 'other', but 'mine', 'second'" in other.explanation
    lost = findings(mine=Entry("done", Share(0.4)), second=Entry("done", Share(0.4)))
    second = check_requirements([requirement], replace(lost, previous=previous))[1]
    assert second.explanation.endswith("but the previous audit has no half of 'second'")
    moved = replace(now, previous=previous, settings=Settings(seed=1))
    assert not any(one.met for one in check_requirements([requirement], moved))
    inputs = replace(now, previous=previous, inputs={"hierarchy": "kinds.csv"})
    assert check_requirements([requirement], inputs)[0].met, "which `half` does not use"


def test_what_the_previous_audit_lacks_is_said_before_anything_is_measured() -> None:
    texts = ["accuracy>=previous"]
    with pytest.raises(UsageError, match="name its JSON file with --previous"):
        parse_requirements(texts)
    then = before(findings(mine=Entry("done", Share(0.4))))
    with pytest.raises(UsageError, match=r"'audit\.json' has no accuracy; it has half"):
        parse_requirements(texts, previous=then)
    known = [Requirement.parse("half>=previous")]
    refuse_incomparable(known, then, "mine", Settings())
    with pytest.raises(
        UsageError, match=r"cannot be checked: .* the data 'mine', and this one 'x'"
    ):
        refuse_incomparable(known, then, "x", Settings())
    refuse_incomparable([Requirement.parse("half>=0")], then, "x", Settings())


def test_a_quick_audit_gives_fewer_metrics() -> None:
    assert parse_requirements(["low_pass_accuracy>=0"])
    with pytest.raises(UsageError, match="unknown metric 'low_pass_accuracy'"):
        parse_requirements(["low_pass_accuracy>=0"], profile="quick")
