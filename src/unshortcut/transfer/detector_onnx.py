"""ONNX export of a trained detector, with a check."""

import json
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torchvision.models.detection import FasterRCNN

from unshortcut.errors import RunError, UsageError
from unshortcut.models.onnx import CLASSES, INSTALL, add_metadata

_OUTPUTS = ["boxes", "labels", "scores"]
_OPSET = 17


def export_detector_onnx(detector: FasterRCNN, path: Path) -> float:
    """Export a detector of `load_detector`; returns the largest difference of a box in pixels.

    The file takes one image (3, H, W) of any size with values from 0 to 1, called `image`, and has
    the outputs `boxes` (n, 4) in pixels of the image, `labels` (n,) and `scores` (n,); its metadata
    name the labels. It appears under its name only after onnxruntime has confirmed its detections.
    """
    side = int(detector.transform.min_size[-1])
    generator = torch.Generator().manual_seed(0)
    image = torch.rand(3, side, side, generator=generator)
    detector = detector.eval()
    aside = path.with_name(f".{path.stem}.partial.onnx")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each constant of the trace is one
            torch.onnx.export(
                detector,
                ([image],),
                str(aside),
                input_names=["image"],
                output_names=_OUTPUTS,
                dynamic_axes={"image": {1: "height", 2: "width"}},
                opset_version=_OPSET,
                dynamo=False,  # the new exporter refuses a number of regions that varies
            )
        other = torch.rand(3, side, side * 5 // 4, generator=generator)
        difference = _check(detector, aside, other)
        names = json.dumps(list(detector.classes), ensure_ascii=False)
        add_metadata(aside, {CLASSES: names})
        aside.replace(path)
    except ImportError:
        raise UsageError(f"export to ONNX needs onnx and onnxruntime; {INSTALL}") from None
    except (torch.onnx.errors.OnnxExporterError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"torch cannot export this detector to ONNX ({reason}); use its safetensors file with "
            "`unshortcut.transfer.load_detector`"
        ) from None
    finally:
        aside.unlink(missing_ok=True)
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
