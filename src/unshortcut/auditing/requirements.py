"""Requirements that make an audit a gate: `shape_bias>=0.4`."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from unshortcut.auditing.findings import Findings
from unshortcut.errors import UsageError, unknown
from unshortcut.measurements.measurement import Measurement

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FORM = re.compile(r"\s*([\w.-]+)\s*(>=|<=|>|<)\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class Requirement:
    """A bound on a metric of every model."""

    text: str
    metric: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """`shape_bias>=0.4`, or with a percentage, `shape_bias >= 40%`."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(
                f"'{text}' is no requirement: write a metric, one of {', '.join(_SIGNS)}, and a "
                "number, such as shape_bias>=0.4"
            )
        metric, sign, number, percent = match.groups()
        return cls(text.strip(), metric, sign, float(number) / (100 if percent else 1))

    def met(self, value: float) -> bool:
        return not math.isnan(value) and _SIGNS[self.sign](value, self.bound)


@dataclass(frozen=True)
class RequirementResult:
    """Whether a model meets a requirement."""

    requirement: Requirement
    model: str
    met: bool
    said: str
    """The figure, or why there is none."""


def check_names(
    requirements: Sequence[Requirement], measurements: Mapping[str, Measurement]
) -> None:
    """Raise `UsageError` where no measurement that is asked for gives a metric."""
    known = [name for one in measurements.values() for name in one.gives]
    for requirement in requirements:
        if not any(fnmatchcase(requirement.metric, name) for name in known):
            raise unknown("metric", requirement.metric, known)


def judge(requirements: Sequence[Requirement], findings: Findings) -> list[RequirementResult]:
    """Every requirement of every model; a figure that is missing does not meet any."""
    return [
        _judged(requirement, model, findings)
        for requirement in requirements
        for model in findings.models
        if model != findings.baseline or not findings.baseline_added
    ]


def _judged(requirement: Requirement, model: str, findings: Findings) -> RequirementResult:
    metric = findings.metrics(model).get(requirement.metric)
    if metric is not None:
        said = f"{requirement.metric} is {metric.value:.4g}"
        if metric.low is not None and metric.high is not None:
            said += f" ({metric.low:.4g} to {metric.high:.4g})"
        return RequirementResult(requirement, model, requirement.met(metric.value), said)
    for name, one in findings.measurements.items():
        if any(fnmatchcase(requirement.metric, given) for given in one.gives):
            entry = findings.entries[name][model]
            if entry.status != "done":
                return RequirementResult(
                    requirement, model, False, f"{name} {entry.status}: {entry.reason}"
                )
    return RequirementResult(requirement, model, False, f"there is no {requirement.metric}")
