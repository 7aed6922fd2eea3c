"""The embedding of a run is encoder and head of its checkpoint, in eval mode."""

import shutil
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from tests.small import TINY, TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.models.encoder import create_encoder
from unshortcut.models.heads import MLPHead
from unshortcut.training.folder import is_run
from unshortcut.training.pretraining import pretrain
from unshortcut.training.projection import load_projection


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Shapes("train", size=32, count=64)
    out = tmp_path_factory.mktemp("projection") / "run"
    return pretrain(TINY_RECIPE, source, out, sets=["schedule.epochs=1"]).folder


def test_it_is_the_checkpoints_encoder_and_head(run: Path) -> None:
    state = torch.load(run / "checkpoint.ckpt", weights_only=True)["state_dict"]
    encoder, head = create_encoder(TINY, 5).eval(), MLPHead(16, 16, 8, batch_norm=True).eval()
    for module, prefix in ((encoder, "encoder."), (head, "head.")):
        own = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
        module.load_state_dict(own)
    images = torch.randn(5, 3, 24, 24, generator=torch.Generator().manual_seed(0))
    model = load_projection(run)
    found = model.features(images)
    with torch.no_grad():
        expected = F.normalize(head(encoder(images)), dim=1)
    torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=1e-6)
    assert not found.requires_grad and model.preprocessing.size == 24
    alone = model.features(images[:1])
    torch.testing.assert_close(alone, found[:1], rtol=0, atol=1e-5)  # no batch statistics


def test_other_weights_have_another_fingerprint(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    assert load_projection(other).fingerprint == load_projection(run).fingerprint
    checkpoint = torch.load(other / "checkpoint.ckpt", weights_only=True)
    next(v for k, v in checkpoint["state_dict"].items() if k.startswith("head.")).add_(1)
    torch.save(checkpoint, other / "checkpoint.ckpt")
    assert load_projection(other).fingerprint != load_projection(run).fingerprint


def test_what_has_no_embedding_is_said(run: Path, tmp_path: Path) -> None:
    assert is_run(run) and not is_run(tmp_path) and not is_run("timm:resnet18")
    with pytest.raises(UsageError, match="is not a run of unshortcut"):
        load_projection(tmp_path)
    other = shutil.copytree(run, tmp_path / "other")
    recipe = other / "recipe.yaml"
    recipe.write_text(recipe.read_text().replace("  hidden: 16", "  hidden: 24"))
    with pytest.raises(UsageError, match="does not fit its recipe: size mismatch for head"):
        load_projection(other)
    checkpoint = torch.load(run / "checkpoint.ckpt", weights_only=True)
    state = checkpoint["state_dict"]
    checkpoint["state_dict"] = {k: v for k, v in state.items() if not k.startswith("head.")}
    torch.save(checkpoint, run.parent / "headless.ckpt")
    shutil.copytree(run, tmp_path / "headless")
    (run.parent / "headless.ckpt").replace(tmp_path / "headless" / "checkpoint.ckpt")
    with pytest.raises(UsageError, match="it lacks 'head"):
        load_projection(tmp_path / "headless")
    (other / "checkpoint.ckpt").unlink()
    with pytest.raises(UsageError, match="has no checkpoint"):
        load_projection(other)
