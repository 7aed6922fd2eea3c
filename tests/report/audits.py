"""JSON files of audits, as `unshortcut audit --json` writes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BIAS, SKETCH, MCE = "shape_bias", "shift_accuracy_sketch", "mce"
LABELS = {BIAS: "Shape bias", SKETCH: "Accuracy on sketch", MCE: "Mean corruption error"}

Models = Mapping[str, Mapping[str, float | None]]
"""Value by metric, by model."""


def entry(metric: str, value: float | None) -> dict[str, Any]:
    percent = metric != MCE
    ends = {} if value is None or not percent else {"low": value - 0.02, "high": value + 0.03}
    return {"label": LABELS[metric], "value": value, **ends, "percent": percent}


def write_audit(path: Path, models: Models, data: str = "shapes@test") -> Path:
    found = {
        name: {"verdict": "", "metrics": {key: entry(key, one) for key, one in metrics.items()}}
        for name, metrics in models.items()
    }
    content = {"data": data, "num_images": 1000, "inputs": {}, "models": found}
    path.write_text(json.dumps({"command": "audit", "metrics": content}))
    return path


def model(bias: float | None, sketch: float | None = None, **more: float | None) -> dict[str, Any]:
    metrics = {BIAS: bias, SKETCH: sketch, **more}
    return {name: value for name, value in metrics.items() if value is not None or name in more}
