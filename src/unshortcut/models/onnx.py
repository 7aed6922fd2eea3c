"""ONNX: models that are loaded from a file, and export with a check."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from unshortcut.errors import RunError, UsageError
from unshortcut.inference.preprocessing import Preprocessing

FEATURES, LOGITS = "features", "logits"
"""Names of the outputs of a classifier."""
CLASSES = "classes"
"""Key of the file's metadata whose value is a JSON list of class names."""
MULTILABEL = "multilabel"
"""Key of the file's metadata whose value is `true` if an image may show several classes."""
PREPROCESSING = "preprocessing"
"""Key of the file's metadata whose value is the model's `Preprocessing` as JSON."""
INSTALL = "install it with: pip install 'unshortcut[onnx]'"


class OnnxModel:
    """An ONNX file as a function from normalized images (N, 3, H, W) to features (N, D).

    A file with outputs named `features` and `logits` is a classifier. The features of any other
    file are its first output.
    """

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
        names = [output.name for output in self.session.get_outputs()]
        self.classifies = {FEATURES, LOGITS} <= set(names)
        self._features = FEATURES if self.classifies else names[0]
        self.classes = self._class_names(path)
        self.multilabel = self._metadata().get(MULTILABEL) == "true"
        self.preprocessing = self._preprocessing(path)
        """As the file states it; None if it does not, as those of other programs."""

    def __call__(self, images: Tensor) -> Tensor:
        return self._run(images, self._features)[0]

    def logits(self, images: Tensor) -> Tensor:
        """Logits (N, classes) of a classifier."""
        return self._run(images, LOGITS)[0]

    def both(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Features (N, D) and logits (N, classes) of a classifier."""
        features, logits = self._run(images, FEATURES, LOGITS)
        return features, logits

    def _run(self, images: Tensor, *outputs: str) -> list[Tensor]:
        feed = {self.input.name: images.cpu().numpy().astype(np.float32)}
        return [torch.from_numpy(one).flatten(1) for one in self.session.run(outputs, feed)]

    def _class_names(self, path: Path) -> tuple[str, ...] | None:
        stated = self._metadata().get(CLASSES)
        if stated is None or not self.classifies:
            return None
        try:
            names = json.loads(stated)
        except ValueError:
            names = None
        if not isinstance(names, list):
            raise UsageError(f"'{path.name}': the metadata '{CLASSES}' is not a JSON list of names")
        return tuple(map(str, names))

    def _preprocessing(self, path: Path) -> Preprocessing | None:
        stated = self._metadata().get(PREPROCESSING)
        try:
            return None if stated is None else Preprocessing.model_validate_json(stated)
        except ValidationError:
            raise UsageError(
                f"'{path.name}': the metadata '{PREPROCESSING}' are not those of unshortcut"
            ) from None

    def _metadata(self) -> dict[str, str]:
        found: dict[str, str] = self.session.get_modelmeta().custom_metadata_map
        return found


def export_onnx(
    model: nn.Module,
    preprocessing: Preprocessing,
    path: Path,
    classes: Sequence[str] | None = None,
    multilabel: bool = False,
) -> float:
    """Export a model for any batch size; returns the largest difference from PyTorch's output.

    The output is named `features`. With `classes`, the model returns features and logits, and the
    file has both outputs. Its metadata have the class names, whether an image may show several of
    them, and the preprocessing. The file appears under its name only after onnxruntime has run it
    and confirmed the outputs.
    """
    side = preprocessing.size
    images = torch.randn(2, 3, side, side, generator=torch.Generator().manual_seed(0))
    model = model.eval()
    with confirmed_file(path) as aside:
        batch = torch.export.Dim("batch")
        torch.onnx.export(
            model,
            (images,),
            str(aside),
            input_names=["images"],
            output_names=[FEATURES] if classes is None else [FEATURES, LOGITS],
            dynamic_shapes=({0: batch},),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
        metadata = {PREPROCESSING: preprocessing.model_dump_json()}
        if classes is not None:
            metadata[CLASSES] = json.dumps(list(classes), ensure_ascii=False)
        if multilabel:
            metadata[MULTILABEL] = "true"
        add_metadata(aside, metadata)
        with torch.no_grad():
            expected = model(images)
        written = OnnxModel(aside)
        pairs = [(written(images), expected)]
        if classes is not None:
            pairs = list(zip(written.both(images), expected, strict=True))
        return max(check_difference(found, true) for found, true in pairs)


@contextmanager
def confirmed_file(path: Path) -> Iterator[Path]:
    """Where to write an ONNX file, which gets its name when it has been checked in the block."""
    aside = path.with_name(f".{path.stem}.partial.onnx")
    try:
        yield aside
        aside.replace(path)
    except ImportError:
        raise UsageError(
            f"export to ONNX needs onnx, onnxscript and onnxruntime; {INSTALL}"
        ) from None
    except torch.onnx.OnnxExporterError as error:
        first = error.__cause__ or error  # the new exporter puts instructions around the reason
        reason = (str(first).splitlines() or [type(first).__name__])[0]
        raise UsageError(
            f"torch cannot export this network to ONNX ({reason}); export to safetensors"
        ) from None
    finally:
        aside.unlink(missing_ok=True)


def check_difference(found: Tensor, expected: Tensor) -> float:
    """The largest difference of an ONNX model's output; `RunError` if it is too large."""
    difference = float((found - expected).abs().max())
    if difference > 1e-3 * max(1.0, float(expected.abs().max())):
        raise RunError(f"the ONNX model differs from the original by {difference:.2g}")
    return difference


def add_metadata(path: Path, metadata: dict[str, str]) -> None:
    """Write metadata into an ONNX file."""
    import onnx

    model = onnx.load(path)
    onnx.helper.set_model_props(model, metadata)
    onnx.save(model, path)
