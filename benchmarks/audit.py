"""The audit of a published model, and how long an audit takes.

    python -m benchmarks.audit [--json FILE]

audits EfficientNet-Lite0 (`examples/efficientnet_lite.py`) on the Imagenette images and conflict
stimuli of the real test data, and then times all measurements of an untrained ResNet-18 on 1,000
drawn images of 64 px. About ten minutes on two cores.
"""

import os
import tempfile
import time
from pathlib import Path

from benchmarks.common import json_target, real_data, report
from unshortcut.auditor import audit
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.models.load import load_model

LITE0 = "examples.efficientnet_lite:efficientnet_lite0"
MAX_IMAGES = 200
"""Images of Imagenette for the real model."""
DRAWN = 1000
"""Drawn images for the timing."""
MEASURED = ("confidence", "shape_bias", "texture_only", "transplant", "neighbors")
REPORTED = (
    "accuracy", "calibration_error", "shape_bias", "shape_bias_coverage", "conflict_shape_accuracy",
    "conflict_texture_accuracy", "texture_only_accuracy", "patch_tiling_accuracy",
    "transplant_follow", "transplant_control", "neighbor_agreement",
)  # fmt: skip


def main() -> None:
    target = json_target("audit")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UNSHORTCUT_CACHE"] = folder  # nothing is cached yet
        figures = {**real_model(), **timing(Path(folder))}
    report("audit", {**figures, "seed": 0}, ["torch", "timm", "grad-cam"], target)


def real_model() -> dict[str, float]:
    """Metrics of EfficientNet-Lite0; the shape bias with both aggregates."""
    data, stimuli = real_data("imagenette-112.tar"), real_data("cue-conflict.tar")
    found = audit(LITE0, data, conflict=stimuli, max_images=MAX_IMAGES, only=MEASURED).findings
    summed = audit(LITE0, data, conflict=stimuli, only=["shape_bias"], aggregate="sum").findings
    metrics = found.metrics(LITE0)
    print(f"{LITE0} {found.verdict(LITE0).text}")
    return {
        **{f"lite0_{name}": metrics[name].value for name in REPORTED},
        "lite0_shape_bias_by_sum": summed.metrics(LITE0)["shape_bias"].value,
    }


def timing(folder: Path) -> dict[str, float]:
    """Seconds of each measurement, and of the whole audit including the page."""
    hierarchy = folder / "kinds.csv"
    lines = [f"{name},{'first' if at < 4 else 'last'}\n" for at, name in enumerate(SHAPE_NAMES)]
    hierarchy.write_text("".join(lines))
    started = time.monotonic()
    found = audit(
        {"resnet18": load_model("timm:resnet18@random", size=64)},
        Shapes("test", count=DRAWN),
        train=Shapes("train", count=DRAWN),
        conflict=Shapes("conflict", count=DRAWN),
        shifts={"sketch": Shapes("sketch", count=DRAWN)},
        hierarchy=hierarchy,
        out=folder / "report.html",
    ).findings
    seconds = time.monotonic() - started
    entries = {name: by_model["resnet18"] for name, by_model in found.entries.items()}
    missing = [name for name, entry in entries.items() if entry.status != "done"]
    assert not missing, f"not measured: {missing}"
    parts = {f"audit_seconds_{name}": entry.seconds for name, entry in entries.items()}
    return {**parts, "audit_seconds": seconds}


if __name__ == "__main__":
    main()
