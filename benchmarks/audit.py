"""The audit of a published model, and how long an audit takes.

    python -m benchmarks.audit [--only real|timing|quick] [--json FILE]

audits EfficientNet-Lite0 (`examples/efficientnet_lite.py`) on the Imagenette images and conflict
stimuli of the real test data, times all measurements of an untrained ResNet-18 on 1,000 drawn
images of 64 px, and times a quick audit of a ResNet-50 at 224 px on 200 images and counts its
forward passes. About twelve minutes on two cores.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.common import real_data, report
from unshortcut.auditor import audit
from unshortcut.data.open import open_data
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.data.source import Subset
from unshortcut.inference.features import compute_features
from unshortcut.measuring.subjects.images import stratified
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.probes.linear import fit_linear

LITE0 = "examples.efficientnet_lite:efficientnet_lite0"
MAX_IMAGES = 200
"""Images of Imagenette for the real model."""
DRAWN = 1000
"""Drawn images for the timing."""
FITTED = 600
"""Images that the head of the ResNet-50 is fitted on."""
NEVER = -100.0
"""Logit of a class that is never predicted."""
MEASURED = ("confidence", "shape_bias", "texture_only", "transplant", "neighbors")
REPORTED = (
    "accuracy", "calibration_error", "shape_bias", "shape_bias_coverage", "conflict_shape_accuracy",
    "conflict_texture_accuracy", "texture_only_accuracy", "patch_tiling_accuracy",
    "transplant_follow", "transplant_control", "neighbor_agreement",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit")
    parser.add_argument("--only", choices=["real", "timing", "quick"], help="a part of it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"seed": 0}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UNSHORTCUT_CACHE"] = folder  # nothing is cached yet
        if arguments.only in (None, "real"):
            figures |= real_model()
        if arguments.only in (None, "timing"):
            figures |= timing(Path(folder))
        if arguments.only in (None, "quick"):
            figures |= quick(Path(folder))
    report("audit", figures, ["torch", "timm", "grad-cam"], arguments.json)


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


def quick(folder: Path) -> dict[str, float]:
    """Seconds of a quick audit including the page, and its forward passes of single images."""
    images = real_data("imagenette-112.tar")
    model, counted = resnet50(images), 0

    def count(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        nonlocal counted
        counted += len(inputs[0])

    assert model.module is not None
    model.module.get_submodule("conv1").register_forward_pre_hook(count)
    started = time.monotonic()
    found = audit(
        {"resnet50": model},
        images,
        conflict=real_data("cue-conflict.tar"),
        profile="quick",
        max_images=MAX_IMAGES,
        out=folder / "quick.html",
    ).findings
    seconds = time.monotonic() - started
    for name in ("shape_bias", "texture_only", "transplant", "corruptions"):
        entry = found.entries[name]["resnet50"]
        assert entry.status == "done", f"{name} was not measured: {entry.reason}"
    print(f"resnet50 {found.verdict('resnet50').text}")
    return {"audit_quick_passes": counted, "audit_quick_seconds": seconds}


def resnet50(images: Path) -> LoadedModel:
    """An untrained ResNet-50 whose head is fitted on its features, so that it is often right.

    Passes and seconds do not depend on the weights, except that patches are cut from images that
    are classified correctly. Of the 1000 classes only those of the images are ever predicted.
    """
    model, train = load_model("timm:resnet50@random"), open_data(f"{images}@train")
    assert model.module is not None and model.classes is not None
    assert train.labels is not None and train.classes is not None
    features = compute_features(model, Subset(train, stratified(train.labels, FITTED, 0)))
    rows, truth = torch.from_numpy(features.values), torch.from_numpy(features.required_labels())
    (probe,) = fit_linear(rows, truth, classes=len(train.classes), seeds=(0,))
    columns = [model.classes.index(name) for name in train.classes]
    head = model.module.get_submodule("fc")
    assert isinstance(head, nn.Linear)
    with torch.no_grad():
        head.weight.zero_()
        head.bias.fill_(NEVER)
        head.weight[columns] = probe.weight.float()
        head.bias[columns] = probe.bias.float()
    return model


if __name__ == "__main__":
    main()
