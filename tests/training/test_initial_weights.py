"""`init` of a recipe: weights to start from, another source of them, or none."""

import io
from pathlib import Path

import pytest
import timm
import torch
from rich.console import Console

from tests.small import TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.errors import RunError, UsageError
from unshortcut.recipes.load import load_recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.forecasting import forecast
from unshortcut.training.initial_weights import same_architecture
from unshortcut.training.pretraining import pretrain

SOURCE = Shapes("train", size=32, count=64)
ONE = ["schedule.epochs=1"]
QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    out = tmp_path_factory.mktemp("first") / "run"
    return RunFolder(pretrain(TINY_RECIPE, SOURCE, out, sets=ONE, console=QUIET).folder)


def weights(out: Path, *sets: str, init: Path | None = None) -> bytes:
    run = pretrain(TINY_RECIPE, SOURCE, out, sets=[*ONE, *sets], init=init, console=QUIET)
    return RunFolder(run.folder).weights.read_bytes()


def test_a_recipe_states_where_its_weights_come_from(first: RunFolder, tmp_path: Path) -> None:
    given = weights(tmp_path / "given", init=first.path)
    assert weights(tmp_path / "stated", f"init={first.path}") == given
    assert load_recipe(RunFolder(tmp_path / "stated").recipe).init == str(first.path)
    assert RunFolder(tmp_path / "stated").read_metadata()["init"] == "run"
    assert weights(tmp_path / "nothing", f"init={first.path}", "init=null") != given
    # --init takes the place of the recipe's own, which is then not in the stored recipe.
    assert weights(tmp_path / "both", "init=timm:resnet18", init=first.path) == given
    assert load_recipe(RunFolder(tmp_path / "both").recipe).init is None


def test_weights_of_another_architecture_are_refused(first: RunFolder, tmp_path: Path) -> None:
    narrow = [f"init={first.path}", "encoder.options.channels=[4,4,8,8]"]
    with pytest.raises(UsageError, match="init: the weights of 'run' do not fit the recipe's enc"):
        pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=narrow, console=QUIET)
    phases = "phases=[{name: a}, {name: b}]"
    with pytest.raises(UsageError, match="phase 'a': init: the weights of 'run' do not fit"):
        pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=[*narrow, phases], console=QUIET)
    assert not (tmp_path / "run").exists()


def test_weights_that_cannot_be_downloaded_are_one_sentence_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: object, **__: object) -> torch.nn.Module:
        raise OSError("no connection\nand a long traceback")

    monkeypatch.setattr("unshortcut.models.origins.timm_library.timm.create_model", offline)
    monkeypatch.setattr("unshortcut.models.encoder.timm.create_model", timm.create_model)
    message = r"could not be loaded \(no connection\).* --init MODEL; none: --set init=null$"
    with pytest.raises(RunError, match=message) as caught:
        pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=["init=timm:resnet18"], console=QUIET)
    assert "\n" not in str(caught.value) and not (tmp_path / "run").exists()


def test_a_forecast_downloads_nothing_and_still_compares_architectures() -> None:
    assert same_architecture("timm:resnet50.tv_in1k") == "timm:resnet50.tv_in1k@random"
    for spec in ("timm:resnet50@file.pth", "runs/first", "timm:resnet18@random"):
        assert same_architecture(spec) == spec
    with pytest.raises(UsageError, match="init: the weights of 'timm:resnet18' do not fit"):
        forecast(TINY_RECIPE, SOURCE, init="timm:resnet18", images_per_second=1, seconds=0)


def test_the_first_phase_starts_from_them_and_says_what_becomes_of_a_classifier(
    tmp_path: Path,
) -> None:
    supervised = {**TINY_RECIPE, "extends": "supervised-shapes", "method": {"name": "supervised"}}
    one = pretrain(supervised, SOURCE, tmp_path / "one", sets=ONE, console=QUIET)
    output = io.StringIO()
    pretrain(
        supervised, SOURCE, tmp_path / "two", init=one.folder,
        sets=[*ONE, "phases=[{name: a}, {name: b}, {name: c, init: null}]"],
        console=Console(file=output, width=200),
    )  # fmt: skip
    said = output.getvalue()
    assert said.count("is taken up") == 2
    assert "the classifier of 'one' is taken up" in said
    assert "the classifier of '1-a' is taken up" in said
    names = ["1-a", "2-b", "3-c"]
    started = [RunFolder(tmp_path / "two" / name).read_metadata()["init"] for name in names]
    assert started == ["one", "1-a", None]
