"""The verdict on a model: its most serious findings, in the order of the page."""

from dataclasses import dataclass

from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.settings import Settings


@dataclass(frozen=True)
class Said:
    text: str
    weight: float


class Saying(Measurement[Said]):
    """A measurement whose finding is its result."""

    def measure(self, subject, on_progress):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def metrics(self, result: Said, baseline: Said | None) -> dict[str, Metric]:
        return {}

    def exhibits(self, results, baseline):  # type: ignore[no-untyped-def]
        return []

    def finding(self, result: Said) -> Finding | None:
        return Finding(result.text, result.weight) if result.text else None


def verdict(*results: Said) -> str:
    names = [f"m{number}" for number in range(len(results))]
    found = Findings(
        {name: Saying() for name in names},
        {"mine": ModelInfo("its own head of 2 classes", 8)},
        {name: {"mine": Entry("done", one)} for name, one in zip(names, results, strict=True)},
        "data",
        10,
        Settings(),
    )
    return found.verdict("mine").text


def test_the_three_most_serious_findings_come_in_the_order_of_the_page() -> None:
    said = verdict(Said("a", 0.2), Said("b", 0.1), Said("c", 0.9), Said("", 1.0), Said("d", 0.5))
    assert said == "a, c, and d."


def test_one_finding_is_a_sentence_and_none_is_one_too() -> None:
    assert verdict(Said("follows a patch", 0.4)) == "follows a patch."
    assert (
        verdict(Said("", 1.0)) == "shows none of the shortcuts that these measurements can detect."
    )
