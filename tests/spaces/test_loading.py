"""Spaces of a run as features, and the encoder that gives just some of them."""

from pathlib import Path

import pytest
import torch

from tests.methods.small_runs import small_run
from unshortcut.errors import UsageError
from unshortcut.models.card import read_card
from unshortcut.models.load import load_model
from unshortcut.spaces.loading import load_spaces, save_spaces
from unshortcut.training.exporting import export_encoder
from unshortcut.training.projection import load_method

IMAGES = torch.randn(5, 3, 24, 24, generator=torch.Generator().manual_seed(0))
ALL = ("invariant", "color", "rotation")
SETS = ("schedule.epochs=1", "method.hidden=12", "method.dim=8")


@pytest.fixture(scope="module")
def looc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(
        "looc-color-rotation-shapes", tmp_path_factory.mktemp("a") / "run", SETS
    ).folder


@pytest.fixture(scope="module")
def plus_plus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("b") / "run"
    return small_run("looc-pp-color-rotation-shapes", folder, SETS).folder


def test_a_space_of_looc_is_the_hidden_layer_of_its_head(looc: Path) -> None:
    method, _ = load_method(looc)
    method.eval()
    features = method.encoder(IMAGES)
    expected = []
    for head in method.head.heads:
        linear, norm, relu, *_ = head.layers
        expected.append(relu(norm(linear(features))))
    model = load_spaces(looc)
    assert model.spaces == ALL
    torch.testing.assert_close(model.features(IMAGES), torch.cat(expected, dim=1))


def test_the_representation_of_a_looc_run_is_the_backbone_and_of_looc_plus_plus_all_branches(
    looc: Path, plus_plus: Path
) -> None:
    assert load_model(looc).spaces is None
    assert load_model(looc).features(IMAGES).shape == (5, 16)
    own = load_model(plus_plus)
    assert own.spaces == ALL
    torch.testing.assert_close(own.features(IMAGES), load_spaces(plus_plus).features(IMAGES))


@pytest.mark.parametrize("run", ["looc", "plus_plus"])
@pytest.mark.parametrize("names", [("rotation",), ("rotation", "invariant"), ALL])
def test_an_encoder_of_some_spaces_gives_just_these(
    run: str, names: tuple[str, ...], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(run)
    everything = load_spaces(folder).features(IMAGES).view(5, 3, -1)
    kept = [place for place, space in enumerate(ALL) if space in names]
    path = tmp_path / "encoder.safetensors"
    save_spaces(folder, names, path)
    saved, loaded = load_model(path), load_spaces(folder, names)
    assert saved.spaces == loaded.spaces == tuple(ALL[place] for place in kept)
    expected = everything[:, kept].flatten(1)
    torch.testing.assert_close(saved.features(IMAGES), expected)
    torch.testing.assert_close(loaded.features(IMAGES), expected)
    assert read_card(path).dim == expected.shape[1]


def test_one_space_of_looc_plus_plus_is_an_encoder_for_timm(
    plus_plus: Path, tmp_path: Path
) -> None:
    path = tmp_path / "encoder.safetensors"
    save_spaces(plus_plus, ["color"], path)
    assert export_encoder(path, "timm").is_file()
    assert export_encoder(plus_plus, "onnx").is_file()
    with pytest.raises(UsageError, match="branches"):
        export_encoder(plus_plus, "timm")


def test_names_that_are_no_space_are_refused(looc: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'colour'.*'color'"):
        load_spaces(looc, ["colour"])
    with pytest.raises(UsageError, match="at least one"):
        load_spaces(looc, [])
    moco = small_run("moco-v2-shapes", tmp_path / "run", SETS).folder
    with pytest.raises(UsageError, match="no spaces"):
        load_spaces(moco)
