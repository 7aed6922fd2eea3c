"""An inspection as plain values, for JSON."""

import math
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from unshortcut.inspection.findings import Inspection, ModelFindings
from unshortcut.inspection.lists import copy_rows, error_rows


def plain_values(found: Inspection) -> dict[str, Any]:
    """All results without pictures; what is not a number is None."""
    collection, copies = found.collection, found.copies
    values: dict[str, Any] = {
        "data": found.data,
        "seed": found.seed,
        "splits": {name: len(one) for name, one in collection.splits.items()},
        "classes": list(collection.classes),
        "unreadable": {
            name: [failure._asdict() for failure in one.unreadable]
            for name, one in collection.splits.items()
            if one.unreadable
        },
        "warnings": list(found.warnings),
        "metrics": found.metrics(),
        "properties": _properties(found),
        "copies": {"calibration": asdict(copies.calibration), "pairs": list(copy_rows(found))},
    }
    if found.model is not None:
        values["model"] = _model(found, found.model)
    plain: dict[str, Any] = _plain(values)
    return plain


def _properties(found: Inspection) -> dict[str, Any]:
    properties = found.properties
    if isinstance(properties, str):
        return {"reason": properties}
    return {
        "split": found.training,
        "num_images": properties.num_images,
        "null": properties.null,
        "constant": {one.about.name: one.text(float(one.values[0])) for one in properties.constant},
        "found": {
            one.about.name: {
                "kind": one.about.kind,
                "accuracy": one.accuracy,
                "chance": one.chance,
                "strength": one.strength,
                "p": one.p_value,
                "significant": one.significant,
                "alarm": one.alarm,
                "auc": dict(zip(properties.classes, one.aucs.tolist(), strict=True)),
                "typical": dict(zip(properties.classes, one.typical, strict=True)),
            }
            for one in properties.found
        },
    }


def _model(found: Inspection, model: ModelFindings) -> dict[str, Any]:
    errors = model.label_errors
    return {
        "name": model.name,
        "classifier": model.classifier,
        "use": model.use
        if isinstance(model.use, str)
        else {
            one.about.name: {
                **{key: value for key, value in asdict(one).items() if key != "about"},
                "used": one.used,
            }
            for one in model.use
        },
        "leaks": model.leaks,
        "label_errors": errors
        if isinstance(errors, str)
        else {
            "estimated": errors.estimated,
            "num_images": errors.num_images,
            "probe_accuracy": errors.accuracy,
            "suspects": list(error_rows(found)),
        },
        "without_suspects": model.without_errors,
        "refitted": model.refitted,
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
