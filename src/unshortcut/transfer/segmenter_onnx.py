"""ONNX files of segmenters, verified with onnxruntime."""

import json
from pathlib import Path

import torch
from torch import Tensor, nn
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.segmentation import FCN

from unshortcut.models.onnx import (
    CLASSES,
    LOGITS,
    PREPROCESSING,
    add_metadata,
    check_difference,
    confirmed_file,
)

_LARGEST_SIDE = 1 << 14


def export_segmenter_onnx(segmenter: FCN, path: Path) -> float:
    """Export a segmenter of `load_segmenter`; returns the largest difference from PyTorch's output.

    The input `images` is normalized, (N, 3, H, W), and the output `logits` (N, classes, H, W). On a
    ResNet the file takes images of any size; on other encoders, whose code depends on the size,
    squares of the size in `preprocessing`. Classes and preprocessing are in the file's metadata.
    The file appears under its name only after onnxruntime has run it and confirmed the logits.
    """
    side = segmenter.preprocessing.size
    any_size = isinstance(segmenter.backbone, IntermediateLayerGetter)
    model = _MainOutput(segmenter).eval()
    images = _noise(2, side, side)
    with confirmed_file(path) as aside:
        import onnxruntime

        torch.onnx.export(
            model,
            (images,),
            str(aside),
            input_names=["images"],
            output_names=[LOGITS],
            dynamic_shapes=(_dynamic(any_size),),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
        stated = {PREPROCESSING: segmenter.preprocessing.model_dump_json()}
        stated[CLASSES] = json.dumps(list(segmenter.classes), ensure_ascii=False)
        add_metadata(aside, stated)
        session = onnxruntime.InferenceSession(str(aside), providers=["CPUExecutionProvider"])
        differences = []
        for given in [images, _noise(1, side + 9, side + 20)] if any_size else [images]:
            (found,) = session.run([LOGITS], {"images": given.numpy()})
            with torch.no_grad():
                differences.append(check_difference(torch.from_numpy(found), model(given)))
        return max(differences)


class _MainOutput(nn.Module):
    """The logits of the main head alone."""

    def __init__(self, network: FCN) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.network(images)["out"]
        return logits


def _noise(count: int, height: int, width: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(count, 3, height, width, generator=generator)


def _dynamic(any_size: bool) -> dict[int, torch.export.Dim]:
    """The axes of the images that the file leaves open."""
    axes = {0: torch.export.Dim("batch")}
    if any_size:
        axes[2] = torch.export.Dim("height", max=_LARGEST_SIDE)
        axes[3] = torch.export.Dim("width", max=_LARGEST_SIDE)
    return axes
