"""Results of audits that are compared, from JSON files or from reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unshortcut.auditing.audit_files import parse_audit, read_audit_file
from unshortcut.errors import UsageError
from unshortcut.measurements.measurement import Metric
from unshortcut.report.report import Report
from unshortcut.result import unique_names

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


def _name(audit: AuditLike) -> str:
    return "report" if isinstance(audit, Report) else Path(audit).name


def _read(audit: AuditLike, name: str) -> AuditResult:
    if isinstance(audit, Report):
        content = parse_audit(audit.to_dict())
    else:
        content = read_audit_file(audit)
    models = tuple(
        AuditedModel(model, name, entry.read_metrics()) for model, entry in content.models.items()
    )
    return AuditResult(name, content.measured_on, models)
