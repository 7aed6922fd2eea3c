"""ONNX files of detectors, segmenters and multi-label classifiers, run by onnxruntime."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from tests.small import TINY
from tests.transfer.saved import READY, SEGMENTED, SIZE, save_detector, save_segmenter
from tests.transfer.test_detectors import VIT
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import load_model
from unshortcut.transfer.detector_onnx import export_detector_onnx
from unshortcut.transfer.exporting import export
from unshortcut.transfer.loading import load_detector, load_segmenter
from unshortcut.transfer.saving import save_with_head
from unshortcut.transfer.task import About

IMAGES = torch.randn(3, 3, 24, 40, generator=torch.Generator().manual_seed(0))


def session(path: Path) -> Any:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def check_segmenter(folder: Path, images: torch.Tensor) -> None:
    """The file gives the logits of PyTorch and states how to use it."""
    made = session(export(folder, "onnx"))
    (found,) = made.run(["logits"], {"images": images.numpy()})
    with torch.no_grad():
        expected = load_segmenter(folder)(images)["out"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    stated = made.get_modelmeta().custom_metadata_map
    assert json.loads(stated["classes"]) == list(SEGMENTED)
    assert Preprocessing.model_validate_json(stated["preprocessing"]) == READY
    assert names(folder) == ["segmenter.json", "segmenter.onnx", "segmenter.safetensors"]


@pytest.mark.slow
def test_a_segmenter_takes_batches_and_images_of_other_sizes(tmp_path: Path) -> None:
    save_segmenter(tmp_path, head="torchvision", aux_weight=0)
    check_segmenter(tmp_path, IMAGES)


@pytest.mark.slow
def test_a_segmenter_with_the_larger_head_and_an_auxiliary_one(tmp_path: Path) -> None:
    save_segmenter(tmp_path, channels=8)
    check_segmenter(tmp_path, IMAGES)


@pytest.mark.slow
def test_a_segmenter_on_a_vit_takes_batches_of_its_size(tmp_path: Path) -> None:
    save_segmenter(tmp_path, VIT, channels=8)
    check_segmenter(tmp_path, torch.randn(3, 3, SIZE, SIZE))


@pytest.mark.parametrize("network", ["c4", pytest.param("fpn", marks=pytest.mark.slow)])
def test_a_detector_finds_the_same_objects_in_images_of_several_sizes(
    network: str, tmp_path: Path
) -> None:
    save_detector(tmp_path, network=network)
    made = session(export(tmp_path, "onnx"))
    assert [one.name for one in made.get_outputs()] == ["boxes", "labels", "scores"]
    stated = made.get_modelmeta().custom_metadata_map
    assert json.loads(stated["classes"]) == ["background", "disk", "square"]
    detector = load_detector(tmp_path)
    for seed, size in enumerate([(SIZE, SIZE), (60, 48)]):
        image = torch.rand(3, *size, generator=torch.Generator().manual_seed(seed))
        boxes, labels, scores = made.run(None, {"image": image.numpy()})
        with torch.no_grad():
            (expected,) = detector([image])
        assert len(boxes) > 20
        np.testing.assert_allclose(boxes, expected["boxes"], atol=1e-2)
        np.testing.assert_allclose(scores, expected["scores"], atol=1e-4)
        assert (labels == expected["labels"].numpy()).all()
    assert names(tmp_path) == ["detector.json", "detector.onnx", "detector.safetensors"]


def test_a_detector_on_a_vit_is_refused_at_once(tmp_path: Path) -> None:
    save_detector(tmp_path, VIT)
    with pytest.raises(UsageError, match="torch cannot export a detector on a ViT to ONNX"):
        export(tmp_path, "onnx")
    assert names(tmp_path) == ["detector.json", "detector.safetensors"]


def test_what_torch_cannot_export_is_said_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_detector(tmp_path)

    def refuse(*given: Any, **options: Any) -> None:
        Path(given[2]).write_bytes(b"half a file")
        raise torch.onnx.OnnxExporterError("no operator 'fold'\nand a long graph")

    monkeypatch.setattr(torch.onnx, "export", refuse)
    with pytest.raises(UsageError, match=r"to ONNX \(no operator 'fold'\); export to safetensors"):
        export_detector_onnx(load_detector(tmp_path), tmp_path / "detector.onnx")
    assert names(tmp_path) == ["detector.json", "detector.safetensors"]


@pytest.mark.slow
@pytest.mark.parametrize("multilabel", [False, True])
def test_a_classifier_states_whether_an_image_shows_several_classes(
    multilabel: bool, tmp_path: Path
) -> None:
    encoder, head = create_encoder(TINY, 0).eval(), torch.nn.Linear(16, 2)
    about = About(("a", "b"), READY)
    save_with_head(encoder, head, tmp_path / "encoder.safetensors", about, multilabel)
    loaded = load_model(export(tmp_path, "onnx"))
    assert loaded.classes == ("a", "b")
    assert (loaded.multilabel, loaded.classifies) == (multilabel, not multilabel)
    images = torch.randn(2, 3, SIZE, SIZE)
    assert loaded.logits is not None
    torch.testing.assert_close(loaded.logits(images), head(encoder(images)))
