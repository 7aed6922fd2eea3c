"""What an audit found: for every measurement and model a result, or why there is none."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from unshortcut.auditing.result_cache import plain_values
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.settings import Settings

Status = Literal["done", "failed", "not applicable"]
CLAUSES = 3
"""Findings in the verdict on a model."""


@dataclass(frozen=True)
class Entry:
    """What came of one measurement of one model."""

    status: Status
    result: Any = None
    """The measurement's own type; None unless done."""
    reason: str = ""
    """Why it is not done, in a sentence."""
    seconds: float = 0.0
    """That it took when it was measured."""
    cached: bool = False
    """Whether an earlier audit had measured it."""


@dataclass(frozen=True)
class ModelInfo:
    """What a reader must know of a model."""

    decides: str
    """What decides in its place: `its own head of 1000 classes`."""
    size: int
    """Side of the images that it sees."""
    error: str = ""
    """Why it could not be audited at all; empty where it could."""
    crop_share: float = 1.0
    """Side of the crop at the center over the shorter side of the resized image."""


@dataclass(frozen=True)
class Verdict:
    """A sentence on a model."""

    model: str
    text: str
    """Begins with a verb, to be read after the model's name; ends with a full stop."""
    weight: float
    """Of the gravest finding, 0 to 1."""


@dataclass(frozen=True)
class Findings:
    """All that an audit found."""

    measurements: Mapping[str, Measurement]
    """By name, in the order of the page."""
    models: Mapping[str, ModelInfo]
    entries: Mapping[str, Mapping[str, Entry]]
    """By measurement, then by model."""
    data: str
    """What the images were, as the user named them."""
    images: int
    """That the data hold."""
    settings: Settings
    given: Mapping[str, str] = field(default_factory=dict)
    """What else was given (conflict, shift, hierarchy, mapping), as the user named it."""
    baseline: str | None = None
    """The model against which others are measured, where one was named."""
    baseline_added: bool = False
    """Whether it was named as a baseline alone, and is not one of the models asked about."""
    warnings: tuple[str, ...] = ()
    """What went wrong on the way and stopped nothing, such as images that cannot be read."""
    command: str = ""
    """That makes this again."""

    def results(self, measurement: str) -> dict[str, Any]:
        """By model: those that are done."""
        entries = self.entries[measurement]
        return {name: one.result for name, one in entries.items() if one.status == "done"}

    def reference(self, measurement: str) -> Any:
        """The baseline's result, or None."""
        return None if self.baseline is None else self.results(measurement).get(self.baseline)

    def metrics(self, model: str) -> dict[str, Metric]:
        """Every number of a model, by name."""
        found: dict[str, Metric] = {}
        for name, one in self.measurements.items():
            result = self.results(name).get(model)
            if result is not None:
                found |= one.metrics(result, self.reference(name))
        return found

    def verdict(self, model: str) -> Verdict:
        """The weightiest findings on a model, as one sentence."""
        if self.models[model].error:
            return Verdict(model, f"could not be audited: {self.models[model].error}.", 0.0)
        found: list[Finding] = []
        for name, one in self.measurements.items():
            result = self.results(name).get(model)
            finding = None if result is None else one.finding(result)
            if finding is not None:
                found.append(finding)
        if not any(model in self.results(name) for name in self.measurements):
            return Verdict(model, "could not be measured.", 0.0)
        if not found:
            return Verdict(model, "shows nothing that these measurements would notice.", 0.0)
        gravest = sorted(found, key=lambda finding: -finding.weight)[:CLAUSES]
        clauses = [finding.text for finding in found if finding in gravest]  # as on the page
        said = clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])}, and {clauses[-1]}"
        return Verdict(model, f"{said}.", gravest[0].weight)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; pictures are left out."""
        return {
            "data": self.data,
            "images": self.images,
            "given": dict(self.given),
            "settings": asdict(self.settings),
            "baseline": self.baseline,
            "warnings": list(self.warnings),
            "models": {name: self._model(name) for name in self.models},
        }

    def _model(self, name: str) -> dict[str, Any]:
        entries = {
            one: self.entries[one][name] for one in self.entries if name in self.entries[one]
        }
        return {
            **asdict(self.models[name]),
            "verdict": self.verdict(name).text,
            "metrics": {key: _plain(metric) for key, metric in self.metrics(name).items()},
            "measurements": {
                one: {
                    "status": entry.status,
                    **({"reason": entry.reason} if entry.reason else {}),
                    "seconds": round(entry.seconds, 3),
                    "cached": entry.cached,
                    **({} if entry.result is None else {"result": plain_values(entry.result)}),
                }
                for one, entry in entries.items()
            },
        }


def _plain(metric: Metric) -> dict[str, Any]:
    kept = {key: getattr(metric, key) for key in ("value", "low", "high", "note")}
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in kept.items()
        if value not in (None, "")
    }
