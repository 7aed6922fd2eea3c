"""ONNX export of a trained detector, with a check."""

import json
import warnings
from pathlib import Path

import numpy as np
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor
from torchvision.models.detection import FasterRCNN

from unshortcut.errors import RunError, UsageError
from unshortcut.models.onnx import CLASSES, add_metadata, confirmed_file

_OUTPUTS = ["boxes", "labels", "scores"]
_OPSET = 17


def export_detector_onnx(detector: FasterRCNN, path: Path) -> float:
    """Export a detector of `load_detector`; returns the largest difference of a box in pixels.

    The file takes one image (3, H, W) of any size with values from 0 to 1, called `image`, and has
    the outputs `boxes` (n, 4) in pixels of the image, `labels` (n,) and `scores` (n,); its metadata
    name the labels. It appears under its name only after onnxruntime has confirmed its detections
    in two images. A very long image may be resized to a pixel less than in PyTorch. Raises
    `UsageError` for a detector on a ViT, whose interpolation of positions ONNX does not have.
    """
    if isinstance(getattr(detector.backbone, "body", None), VisionTransformer):
        raise UsageError(
            "torch cannot export a detector on a ViT to ONNX, because its position embeddings are "
            "interpolated to the size of each image; use `unshortcut.load_detector`"
        )
    side = int(detector.transform.min_size[-1])
    generator = torch.Generator().manual_seed(0)
    images = [torch.rand(3, side, width, generator=generator) for width in (side, side * 5 // 4)]
    detector = detector.eval()
    with confirmed_file(path) as aside:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each constant of the trace is one
            torch.onnx.export(
                detector,
                (images[:1],),
                str(aside),
                input_names=["image"],
                output_names=_OUTPUTS,
                dynamic_axes={"image": {1: "height", 2: "width"}},
                opset_version=_OPSET,
                dynamo=False,  # the new exporter refuses a number of regions that varies
            )
        difference = max(_check(detector, aside, image) for image in images)
        names = json.dumps(list(detector.classes), ensure_ascii=False)
        add_metadata(aside, {CLASSES: names})
        return difference


def _check(detector: FasterRCNN, path: Path, image: Tensor) -> float:
    """The largest difference in pixels between a box of the file and the nearest of the network."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    boxes, labels, scores = session.run(_OUTPUTS, {"image": image.numpy()})
    with torch.no_grad():
        (expected,) = detector([image])
    theirs = {name: value.numpy() for name, value in expected.items()}
    difference = 0.0
    if len(scores) == len(theirs["scores"]):
        # Detections of equal scores may come in another order.
        apart = np.abs(boxes[:, None] - theirs["boxes"][None]).max(axis=2)
        apart[labels[:, None] != theirs["labels"][None]] = np.inf
        difference = float(apart.min(axis=1).max()) if len(boxes) else 0.0
        if np.allclose(scores, theirs["scores"], atol=1e-3) and difference < 0.1:
            return difference
    raise RunError(
        f"the ONNX model finds other objects than the original: {len(scores)} and "
        f"{len(theirs['scores'])}, up to {difference:.2g} pixels apart"
    )
