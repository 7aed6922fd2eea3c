"""ONNX: models that are loaded from a file, and export with a check."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from unshortcut.errors import RunError, UsageError

INSTALL = "install it with: pip install 'unshortcut[onnx]'"


class OnnxModel:
    """An ONNX file as a function from normalized images (N, 3, H, W) to its first output."""

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise UsageError(f"ONNX files need onnxruntime; {INSTALL}") from None
        try:
            cpu = ["CPUExecutionProvider"]
            self.session = onnxruntime.InferenceSession(str(path), providers=cpu)
        except Exception as error:
            raise UsageError(f"'{path.name}' is not an ONNX model: {error}") from None
        self.input = self.session.get_inputs()[0]
        side = self.input.shape[-1]
        self.size: int | None = side if isinstance(side, int) else None

    def __call__(self, images: Tensor) -> Tensor:
        feed = {self.input.name: images.cpu().numpy().astype(np.float32)}
        return torch.from_numpy(self.session.run(None, feed)[0]).flatten(1)


def export_onnx(model: nn.Module, size: int, path: Path) -> float:
    """Export a model for any batch size; returns the largest difference from PyTorch's output.

    The file appears under its name only after onnxruntime has run it and confirmed the output.
    """
    images = torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    aside = path.with_name(f".{path.stem}.partial.onnx")
    model = model.eval()
    try:
        batch = torch.export.Dim("batch")
        torch.onnx.export(
            model,
            (images,),
            str(aside),
            input_names=["images"],
            output_names=["features"],
            dynamic_shapes=({0: batch},),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
        with torch.no_grad():
            expected = model(images)
        difference = float((OnnxModel(aside)(images) - expected).abs().max())
        if difference > 1e-3 * max(1.0, float(expected.abs().max())):
            raise RunError(f"the ONNX model differs from the original by {difference:.2g}")
        aside.replace(path)
    except ImportError:
        raise UsageError(f"export to ONNX needs onnx and onnxscript; {INSTALL}") from None
    finally:
        aside.unlink(missing_ok=True)
    return difference
