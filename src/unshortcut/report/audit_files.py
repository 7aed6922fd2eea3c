"""Results of audits, read back from the JSON files that `unshortcut audit --json` writes."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from unshortcut.errors import UsageError
from unshortcut.measurements.measurement import Metric
from unshortcut.report.report import Report
from unshortcut.result import public_name, unique_names

AuditLike = str | Path | Report
"""A JSON file, or the report that `audit` returned."""


@dataclass(frozen=True)
class AuditedModel:
    """The metrics of one model in one audit."""

    name: str
    """Unique among all models that were read together."""
    audit: str
    """Name of the file."""
    metrics: Mapping[str, Metric]
    """By name; those without a value are left out."""


@dataclass(frozen=True)
class AuditResult:
    """What is compared of one audit."""

    name: str
    """Name of the file, without private folders."""
    data: str
    """The images that were measured on, and the other inputs, as a phrase."""
    models: tuple[AuditedModel, ...]


def read_audits(audits: Sequence[AuditLike]) -> tuple[AuditResult, ...]:
    """Read audits; models of the same name get a number, in the order of the files."""
    if not audits:
        raise UsageError("name at least one JSON file of an audit")
    files = unique_names([_name(audit) for audit in audits])
    found = [_read(audit, file) for audit, file in zip(audits, files, strict=True)]
    names = iter(unique_names([model.name for audit in found for model in audit.models]))
    return tuple(
        replace(audit, models=tuple(replace(model, name=next(names)) for model in audit.models))
        for audit in found
    )


class _MetricEntry(BaseModel):
    value: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    label: str = ""
    percent: bool = False


class _ModelEntry(BaseModel):
    metrics: dict[str, _MetricEntry]


class _Content(BaseModel):
    data: str
    num_images: int
    inputs: dict[str, str] = {}
    models: dict[str, _ModelEntry]

    @property
    def measured_on(self) -> str:
        inputs = [f"{kind} {public_name(name)}" for kind, name in sorted(self.inputs.items())]
        return ", ".join([f"{public_name(self.data)} ({self.num_images:,} images)", *inputs])


class _File(BaseModel):
    metrics: _Content


def _name(audit: AuditLike) -> str:
    return "report" if isinstance(audit, Report) else Path(audit).name


def _read(audit: AuditLike, name: str) -> AuditResult:
    try:
        if isinstance(audit, Report):
            content = _Content.model_validate(audit.to_dict())
        else:
            content = _File.model_validate(json.loads(Path(audit).read_text("utf-8"))).metrics
    except OSError as error:
        raise UsageError(f"'{audit}' cannot be read: {error.strerror}") from None
    except (ValueError, ValidationError):
        raise UsageError(
            f"'{audit}' is not the result of an audit; `unshortcut audit MODEL --json FILE` writes "
            "such a file"
        ) from None
    models = tuple(
        AuditedModel(model, name, _metrics(entry.metrics))
        for model, entry in content.models.items()
    )
    return AuditResult(name, content.measured_on, models)


def _metrics(entries: Mapping[str, _MetricEntry]) -> dict[str, Metric]:
    found = {}
    for name, one in entries.items():
        if one.value is not None and math.isfinite(one.value):
            label = one.label or name.replace("_", " ").capitalize()
            found[name] = Metric(label, one.value, one.low, one.high, one.percent, note=one.note)
    return found
