"""The head of a run of hyperbolic learning, beside its features."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.methods.small_runs import small_run
from unshortcut.auditor import audit
from unshortcut.data.shapes import Shapes
from unshortcut.inference.preprocessing import normalize, stack
from unshortcut.methods.hcl import HCL
from unshortcut.models.load import load_model
from unshortcut.models.poincare import distance
from unshortcut.training.ball import with_ball
from unshortcut.training.projection import load_method

SIZED = [
    f"views.overrides.{view}=[{{name: resize, size: [24, 24]}}]" for view in ("object", "scene")
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hcl") / "run"
    source = Shapes("context-train", size=48, count=64)
    small_run("hcl-shapes", folder, [*SIZED, "method.hyperbolic_queue=64"], source=source)
    return folder


def test_norms_and_distances_are_those_of_the_method(run: Path) -> None:
    model = with_ball(load_model(run), run)
    images = Shapes("context-test", size=model.preprocessing.size, count=6)
    method, _ = load_method(run)
    assert isinstance(method, HCL) and model.ball is not None
    batch = normalize(stack([images.image(i).array for i in range(6)]), model.preprocessing)
    with torch.no_grad():
        vectors, points = method.eval().vectors(batch), method.ball(batch)
    features = model.features(batch).numpy()
    np.testing.assert_allclose(model.ball.norms(features), vectors.norm(dim=1), rtol=1e-4)
    expected = distance(points[:3], points[3:], method.settings.curvature)
    found = model.ball.distances(features[:3], features[3:])
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_the_fingerprint_depends_on_the_head(run: Path, tmp_path: Path) -> None:
    model = with_ball(load_model(run), run)
    assert model.fingerprint != load_model(run).fingerprint
    assert model.fingerprint == with_ball(load_model(run), run).fingerprint
    other = tmp_path / "other"
    shutil.copytree(run, other)
    state = torch.load(other / "checkpoint.ckpt", weights_only=True)
    name = next(key for key in state["state_dict"] if key.startswith("head."))
    state["state_dict"][name] += 1
    torch.save(state, other / "checkpoint.ckpt")
    assert model.fingerprint != with_ball(load_model(other), other).fingerprint


def test_an_audit_has_the_ball_and_says_what_is_missing_without_it(
    run: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(run, bare)
    (bare / "checkpoint.ckpt").unlink()
    findings = audit(
        {"hcl": run, "bare": bare},
        Shapes("context-odd", size=48, count=16),
        train=Shapes("context-train", size=48, count=64),
        only=["scene_norm", "out_of_context"],
    ).findings
    norm, odd = (findings.entries[name] for name in ("scene_norm", "out_of_context"))
    assert norm["hcl"].status == "done" and norm["bare"].status == "not applicable"
    assert "in their checkpoint" in norm["bare"].reason
    assert set(odd["hcl"].result.detections) == {"hyperbolic", "cosine"}
    assert set(odd["bare"].result.detections) == {"cosine"}
    cosines = [odd[name].result.detections["cosine"].auroc.value for name in ("hcl", "bare")]
    assert cosines[0] == cosines[1], "they have the same encoder"


def test_a_run_without_the_hyperbolic_loss_has_no_ball(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(run, other)
    text = (other / "recipe.yaml").read_text()
    assert "hyperbolic_weight: 1.0" in text
    (other / "recipe.yaml").write_text(
        text.replace("hyperbolic_weight: 1.0", "hyperbolic_weight: 0.0")
    )
    model = load_model(other)
    assert with_ball(model, other) is model
