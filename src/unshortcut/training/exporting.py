"""Export a trained encoder to timm, torchvision, ONNX, or safetensors with a card.

The classifier of a supervised run is exported with it.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, get_args

import torch
import torchvision
from torch import nn

from unshortcut.errors import UsageError, unknown
from unshortcut.files import atomic_open
from unshortcut.models.card import Card, load_exported, save_encoder
from unshortcut.models.classifier import EncoderWithClassifier, classifier_tensors
from unshortcut.models.encoder import Encoder
from unshortcut.models.onnx import export_onnx
from unshortcut.training.folder import RunFolder
from unshortcut.translation.trained import refuse_generator

Target = Literal["timm", "torchvision", "onnx", "safetensors"]


def export_encoder(
    run: str | Path, to: Target = "safetensors", out: str | Path | None = None
) -> Path:
    """Write the encoder of a finished run for use elsewhere; returns the path of the file.

    `timm` and `torchvision` give PyTorch state dicts that load strictly into
    `timm.create_model(name, num_classes=0)` and into `torchvision.models.NAME()` with
    `fc = torch.nn.Identity()`; an `onnx` file is verified with onnxruntime. The classifier of a
    supervised run is included: `num_classes` is then the number of its classes in both libraries,
    and the ONNX model has the outputs `features` and `logits`.
    """
    weights = RunFolder(Path(run)).weights if Path(run).is_dir() else Path(run)
    path = export_path(weights, to, out)
    if not weights.is_file():
        refuse_generator(weights.parent)
        raise UsageError(f"'{run}' holds no finished run to export")
    encoder, classifier, card = load_exported(weights)
    if to in ("timm", "torchvision") and not card.encoder.plain:
        raise UsageError(
            f"{to} has no model for an encoder with color_split, branches or hidden_layers; "
            "export to onnx or safetensors"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if to == "onnx":
        model = encoder if classifier is None else EncoderWithClassifier(encoder, classifier)
        export_onnx(model, card.preprocessing, path, card.classes, card.multilabel)
    elif to == "safetensors":
        save_encoder(encoder, card, path, classifier)
    else:
        own = as_torchvision if to == "torchvision" else as_timm
        save_state(own(encoder, card, classifier), path)
    return path


def export_path(weights: Path, to: Target, out: str | Path | None) -> Path:
    """The file to write: next to the weights, or `out` unless it is named like another format."""
    if to not in get_args(Target):
        raise unknown("export target", to, get_args(Target))
    suffix = {"onnx": ".onnx", "safetensors": ".safetensors"}.get(to, f".{to}.pt")
    path = Path(out) if out is not None else weights.with_suffix(suffix)
    if path.suffix != suffix and (to == "safetensors" or path.suffix in (".safetensors", ".onnx")):
        raise UsageError(f"--out must be a {suffix} file for --to {to}, got '{path.name}'")
    return path


def save_state(module: nn.Module, path: Path) -> None:
    """Write the state dict of a module as PyTorch does."""
    with atomic_open(path) as file:
        torch.save(module.state_dict(), file)


def as_timm(encoder: Encoder, card: Card, classifier: nn.Linear | None = None) -> nn.Module:
    """timm's model with the weights of an encoder and its classifier, if any, loaded strictly."""
    if classifier is None:
        return encoder.model
    model: Any = deepcopy(encoder.model)
    model.reset_classifier(classifier.out_features)
    try:
        model.load_state_dict(encoder.model.state_dict() | classifier_tensors(encoder, classifier))
    except RuntimeError:
        raise UsageError(
            f"timm's classifier for '{card.encoder.name}' is not a linear layer; export to onnx or "
            "safetensors"
        ) from None
    complete: nn.Module = model
    return complete


def as_torchvision(encoder: Encoder, card: Card, classifier: nn.Linear | None = None) -> nn.Module:
    """torchvision's model with the weights of an encoder and its classifier, loaded strictly.

    Without a classifier, `fc` is the identity.
    """
    name = card.encoder.name
    if name not in torchvision.models.list_models(module=torchvision.models):
        raise UsageError(f"torchvision has no '{name}'; export to timm, onnx or safetensors")
    model: nn.Module = torchvision.models.get_model(name, weights=None)
    if not hasattr(model, "fc"):
        raise UsageError(f"export to torchvision is for ResNets, not for '{name}'")
    model.fc = classifier or nn.Identity()
    fc = {} if classifier is None else classifier.state_dict(prefix="fc.")
    try:
        model.load_state_dict(encoder.model.state_dict() | fc)
    except RuntimeError:
        raise UsageError(
            f"this '{name}' differs from torchvision's (options {card.encoder.options}, "
            f"small_stem {card.encoder.small_stem}); export to timm, onnx or safetensors"
        ) from None
    return model.eval()
