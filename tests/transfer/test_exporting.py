"""Detectors and segmenters in the formats of other libraries, which load them strictly."""

from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from torch import Tensor, nn
from torchvision.models.segmentation import fcn_resnet50

from tests.cli.test_cli import call
from tests.small import TINY
from tests.transfer.saved import SEGMENTED, SIZE, save_detector, save_segmenter
from tests.transfer.test_detectors import VIT
from tests.transfer.test_start import Own
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.models.load import load_model
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.transfer.exported import NetworkCard, save_network
from unshortcut.transfer.exporting import export, module_for
from unshortcut.transfer.loading import load_detector, load_segmenter
from unshortcut.transfer.saving import save_with_head
from unshortcut.transfer.task import About
from unshortcut.transfer.tasks.segment import SegmentSettings

IMAGES = torch.randn(2, 3, SIZE, 40, generator=torch.Generator().manual_seed(0))
PIXELS = [torch.rand(3, 40, 50, generator=torch.Generator().manual_seed(0))]


def detections(detector: nn.Module) -> dict[str, Tensor]:
    with torch.no_grad():
        (found,) = detector(PIXELS)
    assert len(found["boxes"]) > 20
    return found


def test_torchvision_has_the_names_of_a_resnet50_with_its_head() -> None:
    with torch.device("meta"):
        encoder = create_encoder(EncoderSettings(name="resnet50"), 0)
        task = SegmentSettings(head="torchvision").build(encoder, SEGMENTED, TrainingContext())
        peer = fcn_resnet50(weights_backbone=None, num_classes=2, aux_loss=True)
    peer.load_state_dict(task.network.state_dict(), assign=True)


@pytest.mark.slow
def test_torchvision_loads_a_segmenter_strictly_and_gives_its_logits(tmp_path: Path) -> None:
    task = save_segmenter(tmp_path, EncoderSettings(name="resnet50"), head="torchvision")
    path = export(tmp_path, "torchvision")
    assert module_for(tmp_path, "torchvision") == (
        "torchvision.models.segmentation.fcn_resnet50(weights_backbone=None, num_classes=2, "
        "aux_loss=True)"
    )
    peer = fcn_resnet50(weights_backbone=None, num_classes=2, aux_loss=True).eval()
    peer.load_state_dict(torch.load(path, weights_only=True))
    with torch.no_grad():
        found, expected = peer(IMAGES), task.network.eval()(IMAGES)
    for name in ("out", "aux"):
        torch.testing.assert_close(found[name], expected[name], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("network", ["c4", "fpn"])
def test_a_state_dict_of_a_detector_is_that_of_the_loaded_module(
    network: str, tmp_path: Path
) -> None:
    save_detector(tmp_path, network=network)
    path = export(tmp_path, "torchvision", tmp_path / "new" / "detector.pt")
    detector = load_detector(tmp_path)
    expected = detections(detector)
    with torch.no_grad():
        for parameter in detector.parameters():
            parameter.zero_()
    detector.load_state_dict(torch.load(path, weights_only=True), strict=True)
    found = detections(detector)
    assert all(torch.equal(found[name], expected[name]) for name in found)


@pytest.mark.parametrize("save", [save_detector, save_segmenter])
@pytest.mark.parametrize("encoder", [TINY, VIT])
def test_timm_loads_the_fine_tuned_encoder_alone(
    save: Any, encoder: EncoderSettings, tmp_path: Path
) -> None:
    task = save(tmp_path, encoder)
    state = torch.load(export(tmp_path, "timm"), weights_only=True)
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in encoder.options.items()}
    model = timm.create_model(encoder.name, num_classes=0, **options)
    model.load_state_dict(state, strict=True)
    expected = task.encoder.model.state_dict()
    assert all(torch.equal(state[name], expected[name]) for name in expected)
    assert str(module_for(tmp_path, "timm")).startswith(
        f"timm.create_model('{encoder.name}', num_classes=0, "
    )


def test_the_last_weights_are_exported_beside_the_best(tmp_path: Path) -> None:
    save_detector(tmp_path)
    save_detector(tmp_path, file="last.safetensors", score_threshold=0.2)
    (tmp_path / "other").mkdir()
    last = tmp_path / "last.safetensors"
    copy = export(last, "safetensors", tmp_path / "other" / "mine.safetensors")
    assert copy.read_bytes() == last.read_bytes()
    assert load_detector(copy).roi_heads.score_thresh == 0.2
    assert load_detector(tmp_path).roi_heads.score_thresh == 0.1
    assert export(last, "torchvision") == tmp_path / "last.torchvision.pt"


@pytest.mark.parametrize(
    ("values", "encoder", "own"),
    [
        ({"head": "torchvision"}, {"name": "resnet101"}, True),
        ({"head": "torchvision", "aux_weight": 0}, {"name": "resnet50"}, True),
        ({}, {"name": "resnet50"}, False),
        ({"head": "torchvision", "output_stride": 16}, {"name": "resnet50"}, False),
        ({"head": "torchvision"}, {"name": "resnet50", "small_stem": True}, False),
        ({"head": "torchvision"}, {"name": "resnet18"}, False),
    ],
)
def test_torchvisions_builder_is_named_where_it_has_one(
    values: dict[str, Any], encoder: dict[str, Any], own: bool, tmp_path: Path
) -> None:
    card = NetworkCard(
        task=SegmentSettings(**values),
        encoder=EncoderSettings(**encoder),
        classes=["a", "b", "c"],
        preprocessing=Preprocessing(),
    )
    save_network(nn.Identity(), card, tmp_path / "segmenter.safetensors")
    expected = f"unshortcut.load_segmenter('{tmp_path}')"
    if own:
        expected = (
            f"torchvision.models.segmentation.fcn_{encoder['name']}(weights_backbone=None, "
            f"num_classes=3, aux_loss={'aux_weight' not in values})"
        )
    assert module_for(tmp_path, "torchvision") == expected


def test_the_command_says_what_the_file_loads_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").mkdir()
    save_detector(Path("run"))
    assert call("export", "run", "--to", "torchvision") == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote run/detector.torchvision.pt",
        "it loads into unshortcut.load_detector('run')",
    ]
    assert call("export", "run", "--to", "torchvision", "--out", "a.onnx") == 2
    assert "got 'a.onnx'" in capsys.readouterr().err


def test_a_detector_is_no_segmenter_and_no_encoder(tmp_path: Path) -> None:
    save_detector(tmp_path)
    with pytest.raises(UsageError, match="is no segmenter, its task is 'detect'"):
        load_segmenter(tmp_path)
    for spec in (tmp_path, tmp_path / "detector.safetensors"):
        with pytest.raises(UsageError, match=r"task 'detect' and no encoder; `unshortcut export"):
            load_model(spec)


def test_weights_of_a_users_module_are_for_that_module(tmp_path: Path) -> None:
    module = Own()
    encoder = ModuleEncoder(module, module, 16)
    about = About(("a", "b"), Preprocessing(size=16))
    save_with_head(encoder, nn.Linear(encoder.dim, 2), tmp_path / "encoder.safetensors", about)
    with pytest.raises(UsageError, match="the weights of a module of your own"):
        export(tmp_path, "timm")
