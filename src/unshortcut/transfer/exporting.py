"""Export of every kind of finished run: encoders, classifiers, detectors and segmenters."""

from pathlib import Path

from unshortcut.models.encoder import EncoderSettings
from unshortcut.training.exporting import Target, export_encoder, export_path, save_state
from unshortcut.transfer.detector_onnx import export_detector_onnx
from unshortcut.transfer.exported import NetworkCard, read_network_card, save_network
from unshortcut.transfer.loading import find_network, load_detector, load_segmenter, load_task
from unshortcut.transfer.networks.segmenter import SegmenterSettings
from unshortcut.transfer.segmenter_onnx import export_segmenter_onnx

_FCN = ("resnet50", "resnet101")
"""Encoders of torchvision's builders of segmenters, whose output stride is 8."""


def export(run: str | Path, to: Target = "safetensors", out: str | Path | None = None) -> Path:
    """Write the network of a finished run for use elsewhere; returns the path of the file.

    An encoder is exported with its classifier, if it has one. `timm` and `torchvision` give PyTorch
    state dicts that load strictly into `timm.create_model(name, num_classes=N)` and into
    `torchvision.models.NAME(num_classes=N)`; without a classifier, N is 0 for timm and `fc` is
    `torch.nn.Identity()` in torchvision. An `onnx` file has the outputs `features` and `logits`.

    Of a detector or a segmenter, `torchvision` is the state dict of torchvision's `FasterRCNN` or
    `FCN`; `load_detector` and `load_segmenter` give that module (and `module_for` its name).
    `timm` is the encoder alone. An `onnx` file has the outputs `boxes`, `labels` and `scores` of
    one image, or `logits` of a batch. All ONNX files are verified with onnxruntime.

    Args:
        run: a run folder, whose best weights are exported, or a file such as `last.safetensors`.
        to: the format; `safetensors` comes with a card, a JSON file beside it.
        out: the file to write, by default next to the weights.
    """
    weights = find_network(run)
    if weights is None:
        return export_encoder(run, to, out)
    path = export_path(weights, to, out)
    task, card = load_task(weights)
    path.parent.mkdir(parents=True, exist_ok=True)
    if to == "safetensors":
        save_network(task.network, card, path)
    elif to == "torchvision":
        save_state(task.network, path)
    elif to == "timm":
        save_state(task.encoder.model, path)
    elif card.task.name == "detect":
        export_detector_onnx(load_detector(weights), path)
    else:
        export_segmenter_onnx(load_segmenter(weights), path)
    return path


def module_for(run: str | Path, to: Target) -> str | None:
    """The Python expression of the module that takes an exported state dict strictly.

    None for a run that is neither a detector nor a segmenter, and for files of other formats.
    """
    weights = find_network(run)
    if weights is None or to not in ("timm", "torchvision"):
        return None
    card = read_network_card(weights)
    if to == "torchvision":
        return _torchvision_module(card, run)
    encoder = card.encoder
    options = "".join(f", {name}={value!r}" for name, value in encoder.options.items())
    model = f"timm.create_model('{encoder.name}', num_classes=0{options})"
    return f"{model}, with a 3×3 stem" if encoder.small_stem else model


def _torchvision_module(card: NetworkCard, run: str | Path) -> str:
    """torchvision's own builder, where it has one for the network, or else our function."""
    task, name = card.task, card.encoder.name
    if not isinstance(task, SegmenterSettings):
        return f"unshortcut.load_detector('{run}')"
    same = task.head == "torchvision" and task.output_stride in (None, 8)
    if not same or name not in _FCN or card.encoder != EncoderSettings(name=name):
        return f"unshortcut.load_segmenter('{run}')"
    return (
        f"torchvision.models.segmentation.fcn_{name}(weights_backbone=None, "
        f"num_classes={len(card.classes)}, aux_loss={task.aux_weight > 0})"
    )
