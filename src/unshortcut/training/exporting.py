"""Export a trained encoder to timm, torchvision, ONNX, or safetensors with a card."""

from pathlib import Path
from typing import Literal, get_args

import torch
import torchvision
from torch import nn

from unshortcut.errors import UsageError, unknown
from unshortcut.files import atomic_open
from unshortcut.models.card import Card, load_encoder, save_encoder
from unshortcut.models.encoder import Encoder
from unshortcut.models.onnx import export_onnx
from unshortcut.training.folder import RunFolder

Target = Literal["timm", "torchvision", "onnx", "safetensors"]


def export(run: str | Path, to: Target = "safetensors", out: str | Path | None = None) -> Path:
    """Write the encoder of a finished run for use elsewhere; returns the path of the file.

    `timm` and `torchvision` give PyTorch state dicts that load strictly into
    `timm.create_model(name, num_classes=0)` and into `torchvision.models.NAME()` with
    `fc = torch.nn.Identity()`; an `onnx` file is verified with onnxruntime.
    """
    if to not in get_args(Target):
        raise unknown("export target", to, get_args(Target))
    weights = RunFolder(Path(run)).weights if Path(run).is_dir() else Path(run)
    if not weights.is_file():
        raise UsageError(f"'{run}' holds no finished run to export")
    encoder, card = load_encoder(weights)
    if to in ("timm", "torchvision") and not card.encoder.plain:
        raise UsageError(
            f"{to} has no model for an encoder with color_split, branches or hidden_layers; "
            "export to onnx or safetensors"
        )
    suffix = {"onnx": ".onnx", "safetensors": ".safetensors"}.get(to, f".{to}.pt")
    path = Path(out) if out is not None else weights.with_suffix(suffix)
    if to == "safetensors" and path.suffix != suffix:
        raise UsageError(f"--out must be a {suffix} file, got '{path.name}'")
    path.parent.mkdir(parents=True, exist_ok=True)
    if to == "onnx":
        export_onnx(encoder, card.preprocessing.size, path)
    elif to == "safetensors":
        save_encoder(encoder, card, path)
    else:
        if to == "torchvision":
            as_torchvision(encoder, card)
        with atomic_open(path) as file:
            torch.save(encoder.model.state_dict(), file)
    return path


def as_torchvision(encoder: Encoder, card: Card) -> nn.Module:
    """torchvision's model with the encoder's weights, loaded strictly, without its classifier."""
    name = card.encoder.name
    if name not in torchvision.models.list_models(module=torchvision.models):
        raise UsageError(f"torchvision has no '{name}'; export to timm, onnx or safetensors")
    model: nn.Module = torchvision.models.get_model(name, weights=None)
    if not hasattr(model, "fc"):
        raise UsageError(f"export to torchvision is for ResNets, not for '{name}'")
    model.fc = nn.Identity()
    try:
        model.load_state_dict(encoder.model.state_dict())
    except RuntimeError:
        raise UsageError(
            f"this '{name}' differs from torchvision's (options {card.encoder.options}, "
            f"small_stem {card.encoder.small_stem}); export to timm, onnx or safetensors"
        ) from None
    return model.eval()
