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
    from unshortcut.auditing.previous import PreviousAudit
    from unshortcut.measurements.measurement import Measurement, Metric
    from unshortcut.measuring.settings import Profile, Settings

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_WORDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_NUMBER = r"\d*\.?\d+(?:[eE][-+]?\d+)?"
_FORM = re.compile(
    rf"\s*([\w.-]+)\s*(>=|<=|>|<)\s*(?:([-+]?{_NUMBER})|previous(?:\s*([-+])\s*({_NUMBER}))?)"
    r"\s*(%?)\s*"
)
_ROUNDING = 1e-12
"""Values this near to a bound that includes them count as equal to it."""


@dataclass(frozen=True)
class Requirement:
    """A bound on a metric that every model must meet."""

    text: str
    metric: str
    sign: str
    bound: float
    """The bound, or what is added to the value in the previous audit."""
    relative: bool = False
    """Whether the bound is relative to the previous audit."""

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """Parse `shape_bias>=0.4`, `shape_bias >= 40%`, or `shape_bias>=previous-0.02`."""
        match = _FORM.fullmatch(text)
        if match is None or (match[6] and match[3] is None and match[5] is None):
            raise UsageError(
                f"'{text}' is not a requirement; write a metric, one of {', '.join(_SIGNS)}, and a "
                "number, such as shape_bias>=0.4, or a bound relative to the audit of --previous, "
                "such as shape_bias>=previous-0.02"
            )
        metric, sign, number, side, offset, percent = match.groups()
        value = float(number or f"{side or ''}{offset or 0}") / (100 if percent else 1)
        return cls(text.strip(), metric, sign, value, relative=number is None)

    def is_met(self, value: float, previous: float = 0.0) -> bool:
        """Whether a value meets the bound, which is relative to that of the previous audit."""
        bound = self.bound_after(previous)
        if "=" in self.sign and math.isclose(value, bound, rel_tol=0, abs_tol=_ROUNDING):
            return True
        return not math.isnan(value) and _SIGNS[self.sign](value, bound)

    def bound_after(self, previous: float) -> float:
        """The bound, given the value in the previous audit."""
        return previous + self.bound if self.relative else self.bound


@dataclass(frozen=True)
class RequirementResult:
    """Whether a model meets a requirement."""

    requirement: Requirement
    model: str
    met: bool
    explanation: str  # the value of the metric, or why there is none


def parse_requirements(
    texts: Sequence[str],
    only: Sequence[str] = (),
    *,
    profile: "Profile" = "standard",
    previous: "PreviousAudit | None" = None,
) -> list[Requirement]:
    """Parse requirements, and check all that can be checked before anything is measured.

    `UsageError` if none of the measurements to make gives a metric, or if it is to be compared with
    a previous audit that is not given or lacks it.
    """
    requirements = [Requirement.parse(text) for text in texts]
    if not requirements:
        return []
    from unshortcut.measurements.measurement import measurements

    known = [name for one in measurements(only, profile).values() for name in one.gives]
    for requirement in requirements:
        if not any(fnmatchcase(requirement.metric, name) for name in known):
            raise unknown("metric", requirement.metric, known)
        if requirement.relative:
            _check_previous(requirement, previous)
    return requirements


def refuse_incomparable(
    requirements: Sequence[Requirement],
    previous: "PreviousAudit | None",
    data: str,
    settings: "Settings",
) -> None:
    """A `UsageError` if the previous audit used other data or settings than an audit will use."""
    relative = [one.text for one in requirements if one.relative]
    if previous is None or not relative:
        return
    for one in previous.differences(data, settings, previous.content.inputs):
        raise UsageError(f"'{relative[0]}' cannot be checked: {one.text}")


def check_requirements(
    requirements: Sequence[Requirement], findings: "Findings"
) -> list[RequirementResult]:
    """Check every requirement on every model; a missing metric does not meet any."""
    return [
        _check(requirement, model, findings)
        for requirement in requirements
        for model in findings.judged
    ]


def _check_previous(requirement: Requirement, previous: "PreviousAudit | None") -> None:
    """Check that the previous audit has the metric for any of its models."""
    if previous is None:
        raise UsageError(
            f"'{requirement.text}' compares with a previous audit; name its JSON file with "
            "--previous"
        )
    known = {name for one in previous.content.models for name in previous.metrics(one)}
    if requirement.metric not in known:
        listed = ", ".join(sorted(known)) or "no metrics at all"
        raise UsageError(
            f"'{requirement.text}': the previous audit '{previous.name}' has no "
            f"{requirement.metric}; it has {listed}"
        )


def _check(requirement: Requirement, model: str, findings: "Findings") -> RequirementResult:
    metric = findings.metrics(model).get(requirement.metric)
    if metric is None:
        return RequirementResult(requirement, model, False, _reason(requirement, model, findings))
    text = f"{requirement.metric} is {_written(metric)}"
    if not requirement.relative:
        return RequirementResult(requirement, model, requirement.is_met(metric.value), text)
    before = _before(requirement, model, findings)
    if isinstance(before, str):
        return RequirementResult(requirement, model, False, f"{text}, but {before}")
    bound = f"{_WORDS[requirement.sign]} {requirement.bound_after(before.value):.4g}"
    text += f"; it was {_written(before)}, so that {bound} is required"
    met = requirement.is_met(metric.value, before.value)
    return RequirementResult(requirement, model, met, text)


def _before(requirement: Requirement, model: str, findings: "Findings") -> "Metric | str":
    """The metric in the previous audit, or why there is none that can be compared."""
    previous, changes = findings.previous, findings.changes
    if previous is None or changes is None:
        return "no previous audit was given"
    matter = {"data", "settings", "mapping"}
    for one in _measurements(requirement, findings).values():
        matter |= {needed.replace("shifts", "shift") for needed in (*one.needs, *one.uses)}
    for difference in changes.differences:
        if difference.what in matter:
            return difference.text
    name = previous.counterpart(model, findings.judged)
    if name is None:
        return previous.without_model(model)
    found = previous.metrics(name).get(requirement.metric)
    return f"the previous audit has no {requirement.metric} of '{name}'" if found is None else found


def _reason(requirement: Requirement, model: str, findings: "Findings") -> str:
    """Why a model has no such metric."""
    for name in _measurements(requirement, findings):
        entry = findings.entries[name][model]
        if entry.status != "done":
            return f"{name} {entry.status}: {entry.reason}"
    return f"there is no {requirement.metric}"


def _measurements(requirement: Requirement, findings: "Findings") -> "dict[str, Measurement]":
    """The measurements that may give the metric, by name."""
    return {
        name: one
        for name, one in findings.measurements.items()
        if any(fnmatchcase(requirement.metric, given) for given in one.gives)
    }


def _written(metric: "Metric") -> str:
    if metric.low is None or metric.high is None:
        return f"{metric.value:.4g}"
    return f"{metric.value:.4g} ({metric.low:.4g} to {metric.high:.4g})"
