"""The findings of an audit: a result, or a reason, for every measurement and model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from unshortcut.auditing.changes import Changes, changes_since
from unshortcut.auditing.previous import PreviousAudit, plain_settings
from unshortcut.auditing.result_cache import plain_values
from unshortcut.measurements.measurement import Measurement, Metric
from unshortcut.measuring.settings import Settings

Status = Literal["done", "failed", "not applicable"]
CLAUSES = 3
"""Maximum number of findings in the verdict on a model."""


@dataclass(frozen=True)
class Entry:
    """The outcome of one measurement of one model."""

    status: Status
    result: Any = None
    """Of the measurement's result type; None unless done."""
    reason: str = ""  # why there is no result
    seconds: float = 0.0
    """Time the measurement took when it was made."""
    cached: bool = False  # whether the result comes from an earlier audit


@dataclass(frozen=True)
class ModelInfo:
    """How a model sees and classifies the images."""

    classifier: str
    """What classifies the images, e.g. `its own head of 1000 classes`."""
    size: int  # input size in pixels
    error: str = ""
    """Why the model could not be audited at all; empty if it could."""
    crop_share: float = 1.0
    """Side of the center crop relative to the shorter side of the resized image."""
    prompts: tuple[str, ...] = ()
    """The texts that stand for the classes, of a model of images and texts."""


@dataclass(frozen=True)
class Verdict:
    """A sentence about a model."""

    model: str
    text: str
    """Begins with a verb, to be read after the name of the model, and ends with a full stop."""
    weight: float  # of the most serious finding, 0 to 1
    brief: str = ""
    """The same without numbers."""


@dataclass(frozen=True)
class Findings:
    """Everything that an audit found."""

    measurements: Mapping[str, Measurement]  # by name, in the order of the page
    models: Mapping[str, ModelInfo]
    entries: Mapping[str, Mapping[str, Entry]]  # by measurement, then by model
    data: str  # name of the data set
    num_images: int
    settings: Settings
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Names of the optional inputs that were given: conflict, shift, hierarchy, mapping."""
    baseline: str | None = None
    """The model that corruption errors are relative to, if one was given."""
    baseline_added: bool = False  # whether it is not one of the models to audit
    warnings: tuple[str, ...] = ()
    command: str = ""  # repeats the audit
    previous: PreviousAudit | None = None  # an earlier audit to compare with

    @property
    def judged(self) -> tuple[str, ...]:
        """The models to audit, without a baseline that was added to them."""
        added = self.baseline if self.baseline_added else None
        return tuple(model for model in self.models if model != added)

    @cached_property
    def changes(self) -> Changes | None:
        """What has changed since the earlier audit, if one was given."""
        return None if self.previous is None else changes_since(self.previous, self)

    def results(self, measurement: str) -> dict[str, Any]:
        """Results by model, where there are any."""
        entries = self.entries[measurement]
        return {name: one.result for name, one in entries.items() if one.status == "done"}

    def reference(self, measurement: str) -> Any:
        """The result of the baseline, or None."""
        return None if self.baseline is None else self.results(measurement).get(self.baseline)

    def metrics(self, model: str) -> dict[str, Metric]:
        """All metrics of a model, by name."""
        found: dict[str, Metric] = {}
        for name, result in self._results_of(model).items():
            found |= self.measurements[name].metrics(result, self.reference(name))
        return found

    def verdict(self, model: str) -> Verdict:
        """The most serious findings on a model, as one sentence."""
        if self.models[model].error:
            return Verdict(model, f"could not be audited: {self.models[model].error}.", 0.0)
        results = self._results_of(model)
        if not results:
            return Verdict(model, "could not be measured.", 0.0)
        every = (self.measurements[name].finding(result) for name, result in results.items())
        found = [finding for finding in every if finding is not None]
        if not found:
            text = "shows none of the shortcuts that these measurements can detect."
            return Verdict(model, text, 0.0)
        serious = sorted(found, key=lambda finding: -finding.weight)[:CLAUSES]
        chosen = [finding for finding in found if finding in serious]  # as on the page
        text = _sentence([finding.text for finding in chosen])
        brief = _sentence([finding.brief or finding.text for finding in chosen])
        return Verdict(model, text, serious[0].weight, brief)

    def to_dict(self) -> dict[str, Any]:
        """Everything but pictures as plain values, for JSON."""
        return {
            "data": self.data,
            "num_images": self.num_images,
            "inputs": dict(self.inputs),
            "settings": plain_settings(self.settings),
            "baseline": self.baseline,
            "warnings": list(self.warnings),
            "models": {name: self._model(name) for name in self.models},
            **({} if self.changes is None else {"changes": self.changes.to_dict()}),
        }

    def _results_of(self, model: str) -> dict[str, Any]:
        """Results of a model by measurement, where there are any."""
        by_name = {name: self.results(name).get(model) for name in self.measurements}
        return {name: result for name, result in by_name.items() if result is not None}

    def _model(self, name: str) -> dict[str, Any]:
        entries = {one: own[name] for one, own in self.entries.items() if name in own}
        return {
            **asdict(self.models[name]),
            "verdict": self.verdict(name).text,
            "metrics": {key: _plain_metric(metric) for key, metric in self.metrics(name).items()},
            "measurements": {one: _plain_entry(entry) for one, entry in entries.items()},
        }


def _sentence(clauses: Sequence[str]) -> str:
    last = clauses[-1]
    return f"{last}." if len(clauses) == 1 else f"{', '.join(clauses[:-1])}, and {last}."


def _plain_entry(entry: Entry) -> dict[str, Any]:
    return {
        "status": entry.status,
        **({"reason": entry.reason} if entry.reason else {}),
        "seconds": round(entry.seconds, 3),
        "cached": entry.cached,
        **({} if entry.result is None else {"result": plain_values(entry.result)}),
    }


def _plain_metric(metric: Metric) -> dict[str, Any]:
    names = ("label", "value", "low", "high", "percent", "note")
    kept = {name: getattr(metric, name) for name in names}
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in kept.items()
        if value not in (None, "")
    }
