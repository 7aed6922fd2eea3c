"""Segmenters as files: they load as they were saved, in torchvision too, and run as ONNX."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from torchvision.models.segmentation import FCN, fcn_resnet50

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.transfer.segmenter import SEGMENTER_FILE, load_segmenter
from unshortcut.transfer.segmenter_onnx import export_segmenter_onnx
from unshortcut.transfer.task import About
from unshortcut.transfer.tasks.segment import Segment, SegmentSettings

CLASSES = ("background", "pet")
ABOUT = About(CLASSES, Preprocessing(size=32), {"versions": {"torch": "2"}})
IMAGES = torch.randn(2, 3, 24, 40, generator=torch.Generator().manual_seed(0))


def segment(encoder: EncoderSettings = TINY, **values: Any) -> Segment:
    made = create_encoder(encoder, seed=0)
    return SegmentSettings(**values).build(made, CLASSES, TrainingContext())


def test_a_saved_segmenter_is_loaded_as_torchvisions_fcn(tmp_path: Path) -> None:
    task = segment(channels=8, output_stride=16)
    task.network(IMAGES)  # moves the statistics of batch norm
    task.eval().save(tmp_path / SEGMENTER_FILE, ABOUT)
    for where in (tmp_path, str(tmp_path / SEGMENTER_FILE)):
        network, card = load_segmenter(where)
        assert type(network) is FCN and not network.training
        assert card.classes == list(CLASSES) and card.preprocessing == ABOUT.preprocessing
        assert card.task == task.settings and card.versions == {"torch": "2"}
        found, expected = network(IMAGES), task.network(IMAGES)
        assert found.keys() == {"out", "aux"}
        assert all(torch.equal(found[name], expected[name]) for name in found)


def test_weights_of_a_resnet50_with_torchvisions_head_load_into_torchvision() -> None:
    with torch.device("meta"):
        task = segment(EncoderSettings(name="resnet50"), head="torchvision")
        peer = fcn_resnet50(weights_backbone=None, num_classes=2, aux_loss=True)
    peer.load_state_dict(task.network.state_dict(), assign=True)


def test_wrong_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"has no '{SEGMENTER_FILE}'"):
        load_segmenter(tmp_path)
    weights = tmp_path / SEGMENTER_FILE
    segment(channels=8).save(weights, ABOUT)
    card = json.loads(weights.with_suffix(".json").read_text())

    def write(**changes: Any) -> None:
        weights.with_suffix(".json").write_text(json.dumps({**card, **changes}))

    write(task={**card["task"], "channels": 4})
    with pytest.raises(UsageError, match="does not fit its card: size mismatch"):
        load_segmenter(weights)
    write(task={"name": "classify"})
    with pytest.raises(UsageError, match="no segmenter, its task is 'classify'"):
        load_segmenter(weights)
    write(colors=3)
    with pytest.raises(UsageError, match="unknown key 'colors'"):
        load_segmenter(weights)
    weights.with_suffix(".json").unlink()
    with pytest.raises(UsageError, match="has no card"):
        load_segmenter(weights)


def test_onnx_takes_batches_and_images_of_other_sizes(tmp_path: Path) -> None:
    weights = tmp_path / SEGMENTER_FILE
    segment(channels=8).eval().save(weights, ABOUT)
    network, card = load_segmenter(weights)
    path = tmp_path / "segmenter.onnx"
    assert export_segmenter_onnx(network, card, path) < 1e-4
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(["logits"], {"images": IMAGES.numpy()})
    np.testing.assert_allclose(found, network(IMAGES)["out"].detach(), atol=1e-5)
    stated = session.get_modelmeta().custom_metadata_map
    assert json.loads(stated["classes"]) == list(CLASSES)
    assert Preprocessing.model_validate_json(stated["preprocessing"]) == ABOUT.preprocessing
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "segmenter.json", "segmenter.onnx", "segmenter.safetensors",
    ]  # fmt: skip
