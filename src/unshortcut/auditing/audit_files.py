"""The JSON files that `unshortcut audit --json` writes, read back."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from unshortcut.errors import UsageError
from unshortcut.measurements.measurement import Metric
from unshortcut.result import public_name


class MetricEntry(BaseModel):
    """A metric as it is written."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    label: str = ""
    percent: bool = False


class ModelEntry(BaseModel):
    """What is read of a model."""

    metrics: dict[str, MetricEntry]
    classifier: str = ""

    def read_metrics(self) -> dict[str, Metric]:
        """The metrics by name; those without a value are left out."""
        found = {}
        for name, one in self.metrics.items():
            if one.value is not None and math.isfinite(one.value):
                label = one.label or name.replace("_", " ").capitalize()
                found[name] = Metric(
                    label, one.value, one.low, one.high, one.percent, note=one.note
                )
        return found


class AuditContent(BaseModel):
    """What is read of an audit."""

    data: str
    num_images: int
    inputs: dict[str, str] = {}
    settings: dict[str, Any] = {}
    models: dict[str, ModelEntry]

    @property
    def measured_on(self) -> str:
        """The images that were measured on, and the other inputs, as a phrase."""
        inputs = [f"{kind} {public_name(name)}" for kind, name in sorted(self.inputs.items())]
        return ", ".join([f"{public_name(self.data)} ({self.num_images:,} images)", *inputs])


class _File(BaseModel):
    metrics: AuditContent


def read_audit_file(path: str | Path) -> AuditContent:
    """Read a file; a `UsageError` if it is not the result of an audit."""
    try:
        return _File.model_validate(json.loads(Path(path).read_text("utf-8"))).metrics
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from None
    except (ValueError, ValidationError):
        raise UsageError(
            f"'{path}' is not the result of an audit; `unshortcut audit MODEL --json FILE` writes "
            "such a file"
        ) from None


def parse_audit(values: Mapping[str, Any]) -> AuditContent:
    """The content of the plain values of a report."""
    return AuditContent.model_validate(values)
