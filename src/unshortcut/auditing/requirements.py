"""Requirements on metrics, such as `shape_bias>=0.4`, which make an audit a gate."""

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from unshortcut.errors import UsageError, unknown

if TYPE_CHECKING:
    from unshortcut.auditing.findings import Findings

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FORM = re.compile(r"\s*([\w.-]+)\s*(>=|<=|>|<)\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class Requirement:
    """A bound on a metric that every model must meet."""

    text: str
    metric: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """Parse `shape_bias>=0.4` or, as a percentage, `shape_bias >= 40%`."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(
                f"'{text}' is not a requirement; write a metric, one of {', '.join(_SIGNS)}, and a "
                "number, such as shape_bias>=0.4"
            )
        metric, sign, number, percent = match.groups()
        return cls(text.strip(), metric, sign, float(number) / (100 if percent else 1))

    def is_met(self, value: float) -> bool:
        return not math.isnan(value) and _SIGNS[self.sign](value, self.bound)


@dataclass(frozen=True)
class RequirementResult:
    """Whether a model meets a requirement."""

    requirement: Requirement
    model: str
    met: bool
    explanation: str  # the value of the metric, or why there is none


def parse_requirements(texts: Sequence[str], only: Sequence[str] = ()) -> list[Requirement]:
    """Parse requirements; `UsageError` if none of the measurements to make gives a metric."""
    requirements = [Requirement.parse(text) for text in texts]
    if requirements:
        from unshortcut.measurements.measurement import measurements

        known = [name for one in measurements(only).values() for name in one.gives]
        for requirement in requirements:
            if not any(fnmatchcase(requirement.metric, name) for name in known):
                raise unknown("metric", requirement.metric, known)
    return requirements


def check_requirements(
    requirements: Sequence[Requirement], findings: "Findings"
) -> list[RequirementResult]:
    """Check every requirement on every model; a missing metric does not meet any."""
    return [
        _check(requirement, model, findings)
        for requirement in requirements
        for model in findings.models
        if model != findings.baseline or not findings.baseline_added
    ]


def _check(requirement: Requirement, model: str, findings: "Findings") -> RequirementResult:
    metric = findings.metrics(model).get(requirement.metric)
    if metric is not None:
        text = f"{requirement.metric} is {metric.value:.4g}"
        if metric.low is not None and metric.high is not None:
            text += f" ({metric.low:.4g} to {metric.high:.4g})"
        return RequirementResult(requirement, model, requirement.is_met(metric.value), text)
    for name, one in findings.measurements.items():
        if any(fnmatchcase(requirement.metric, given) for given in one.gives):
            entry = findings.entries[name][model]
            if entry.status != "done":
                text = f"{name} {entry.status}: {entry.reason}"
                return RequirementResult(requirement, model, False, text)
    return RequirementResult(requirement, model, False, f"there is no {requirement.metric}")
