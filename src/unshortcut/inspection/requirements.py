"""Requirements on the figures of an inspection, such as `alarms<=0`, which make it a gate."""

from collections.abc import Sequence
from dataclasses import dataclass

from unshortcut.auditing.requirements import Requirement
from unshortcut.errors import UsageError, unknown
from unshortcut.inspection.findings import METRICS, Inspection


@dataclass(frozen=True)
class RequirementCheck:
    """Whether a requirement is met."""

    requirement: Requirement
    met: bool
    explanation: str


def parse_requirements(texts: Sequence[str]) -> list[Requirement]:
    """Parse requirements; `UsageError` if one names no figure of an inspection."""
    requirements = [Requirement.parse(text) for text in texts]
    for one in requirements:
        if one.metric not in METRICS:
            raise unknown("figure of an inspection", one.metric, METRICS)
        if one.relative:
            raise UsageError(
                f"'{one.text}' refers to a previous audit, which an inspection does not have; "
                f"write a number, such as {one.metric}<=0"
            )
    return requirements


def check_requirements(
    requirements: Sequence[Requirement], found: Inspection
) -> list[RequirementCheck]:
    """Check every requirement; a figure that is not known meets none."""
    figures = found.metrics()
    return [_check(one, figures.get(one.metric), found) for one in requirements]


def _check(one: Requirement, value: float | None, found: Inspection) -> RequirementCheck:
    if value is None:
        needs_model = found.model is None and list(METRICS).index(one.metric) >= _FIRST_OF_MODEL
        why = "it needs --model" if needs_model else _reason(one.metric, found)
        return RequirementCheck(one, False, f"{one.metric} is not known: {why}")
    return RequirementCheck(one, one.is_met(value), f"{one.metric} is {value:.4g}")


def _reason(metric: str, found: Inspection) -> str:
    """Why a figure is not known."""
    model = found.model
    if (
        model is not None
        and metric.startswith("label_error")
        and isinstance(model.label_errors, str)
    ):
        return model.label_errors
    return "the data do not allow to measure it"


_FIRST_OF_MODEL = list(METRICS).index("properties_used")
