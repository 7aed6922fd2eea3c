"""A run from end to end: the folder it leaves, bad images, logs, two processes, Python use."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from lightning.pytorch import Trainer
from rich.console import Console
from torch.utils.data import DataLoader

import unshortcut
from tests.data.bad_folder import make_bad_folder
from tests.small import TINY, TINY_RECIPE
from unshortcut.data.loader import ViewLoader
from unshortcut.data.shapes import Shapes
from unshortcut.errors import RunError, UsageError
from unshortcut.methods.method import Method
from unshortcut.methods.step import StepOutput
from unshortcut.models.card import WEIGHTS_FILE as WEIGHTS
from unshortcut.models.card import read_weights
from unshortcut.models.encoder import Encoder
from unshortcut.recipes.load import load_recipe
from unshortcut.training import pretraining
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.logs import embedding_std, read_log
from unshortcut.training.pretraining import build_method, pretrain

ONE_EPOCH = ["schedule.epochs=1"]


def test_a_run_folder_explains_itself(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run = pretrain(
        TINY_RECIPE, Shapes("train", size=32, count=96), out,
        sets=["schedule.epochs=2", "training.knn_epochs=1", "training.log_steps=1"],
    )  # fmt: skip
    names = {path.name for path in out.iterdir()}
    assert names == {
        "README.txt", "recipe.yaml", "run.json", "log.jsonl", "tensorboard", "views.png",
        "checkpoint.ckpt", "encoder.safetensors", "encoder.json", "result.json",
    }  # fmt: skip
    recipe = load_recipe(out / "recipe.yaml")
    assert recipe.schedule.epochs == 2 and recipe.encoder == TINY
    metadata = json.loads((out / "run.json").read_text())
    assert metadata["num_images"] == 96 and metadata["versions"]["torch"]
    entries = read_log(out / "log.jsonl")
    assert [e["step"] for e in entries if "loss" in e] == [1, 2, 3, 4, 5, 6]
    assert [e["epoch"] for e in entries if "knn" in e] == [1, 2]
    assert all(e["embedding_std"] > 0 for e in entries if "embedding_std" in e)
    result = json.loads((out / "result.json").read_text())
    assert result["metrics"]["knn"] == run.metrics["knn"]
    assert str(tmp_path) not in (out / "result.json").read_text() + (out / "run.json").read_text()
    assert any((out / "tensorboard").iterdir())


def test_a_folder_with_every_kind_of_bad_file_trains_through(tmp_path: Path) -> None:
    folder = make_bad_folder(tmp_path / "images", good=60)
    run = pretrain(TINY_RECIPE, folder.root, tmp_path / "run", sets=ONE_EPOCH)
    lines = (run.folder / "skipped.jsonl").read_text().splitlines()
    listed = [json.loads(line) for line in lines]
    assert sorted(entry["identity"] for entry in listed) == sorted(folder.bad)
    assert all(entry["reason"] for entry in listed)


def test_an_image_that_fails_later_is_replaced_and_listed(tmp_path: Path) -> None:
    from unshortcut.data.source import BadImageError, Image

    class Late(Shapes):
        """Headers are fine, and one image cannot be decoded once training has begun."""

        armed = False

        def image(self, index: int) -> Image:
            if self.armed and index == 7:
                raise BadImageError("truncated")
            return super().image(index)

    source = Late("train", size=32, count=64)
    Late.armed = False
    import unshortcut.training.pretraining as module

    original = module.fit

    def arm(*arguments: object) -> object:
        Late.armed = True
        return original(*arguments)  # type: ignore[arg-type]

    module.fit = arm  # type: ignore[assignment]
    try:
        run = pretrain(TINY_RECIPE, source, tmp_path / "run", sets=ONE_EPOCH)
    finally:
        module.fit = original
    (line,) = (run.folder / "skipped.jsonl").read_text().splitlines()
    assert json.loads(line) == {"identity": source.identity(7), "reason": "truncated"}


@pytest.mark.parametrize(
    ("data", "sets", "message"),
    [
        ("nowhere", [], "nowhere"),
        ("empty", [], "no images"),
        ("file.txt", [], "file.txt"),
        ("few", ["data.batch_size=64"], "a batch of 64 is larger than the data, which have 3"),
    ],
)
def test_bad_data_are_one_sentence_and_nothing_is_written(
    tmp_path: Path, data: str, sets: list[str], message: str
) -> None:
    from PIL import Image

    (tmp_path / "empty").mkdir()
    (tmp_path / "few").mkdir()
    for number in range(3):
        Image.new("RGB", (32, 32)).save(tmp_path / "few" / f"{number}.png")
    (tmp_path / "file.txt").write_text("not a folder")
    with pytest.raises(UsageError, match=message):
        pretrain(TINY_RECIPE, tmp_path / data, tmp_path / "run", sets=sets)
    assert not (tmp_path / "run").exists()


def test_mostly_bad_folder_stops_before_training(tmp_path: Path) -> None:
    folder = make_bad_folder(tmp_path / "images", good=3)
    with pytest.raises(UsageError, match="cannot be read"):
        pretrain(TINY_RECIPE, folder.root, tmp_path / "run", sets=["data.batch_size=2"])
    assert not (tmp_path / "run").exists()


def test_two_processes_train_from_the_command_line_as_one_does(tmp_path: Path) -> None:
    """A ViT has no batch norm, so two processes differ from one in rounding only."""
    transformer = {
        "name": "vit_tiny_patch16_224",
        "options": {"img_size": 24, "patch_size": 8, "embed_dim": 24, "depth": 1, "num_heads": 2},
    }
    values = {
        **TINY_RECIPE,
        "encoder": transformer,
        "method": {**TINY_RECIPE["method"], "head_batch_norm": False},
        "optimizer": {"name": "sgd", "lr": 0.1},
    }
    recipe = tmp_path / "tiny.yaml"
    recipe.write_text(yaml.safe_dump(values))
    alone = pretrain(
        values, "shapes", tmp_path / "one", sets=["schedule.epochs=1", "data.batch_size=1000"]
    )
    done = subprocess.run(
        [sys.executable, "-m", "unshortcut.cli.main", "pretrain", str(recipe), "--data", "shapes",
         "--out", str(tmp_path / "run"), "--devices", "2", "--set", "schedule.epochs=1",
         "--set", "data.batch_size=1000"],
        capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "encoder.safetensors").exists()
    assert [entry["step"] for entry in read_log(tmp_path / "run" / "log.jsonl")] == [6]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["devices"] == 2
    one, two = read_weights(alone.folder / WEIGHTS), read_weights(tmp_path / "run" / WEIGHTS)
    start = build_method(load_recipe(values)).encoder.model.state_dict()
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=0, atol=1e-5)
    assert any((value - start[name]).abs().max() > 1e-3 for name, value in one.items())


def test_init_starts_from_given_weights(tmp_path: Path) -> None:
    source = Shapes("train", size=32, count=64)
    first = pretrain(TINY_RECIPE, source, tmp_path / "first", sets=ONE_EPOCH)
    method = build_method(load_recipe(TINY_RECIPE), first.folder)
    expected = first.model().module
    assert isinstance(expected, Encoder)
    for ours, theirs in zip(method.encoder.parameters(), expected.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    narrow = load_recipe(TINY_RECIPE, ["encoder.options.channels=[4,4,8,8]"])
    with pytest.raises(UsageError, match=r"do not fit the recipe's encoder: .* first is 'layer1"):
        build_method(narrow, first.folder)


@pytest.mark.parametrize("own_loader", [False, True])
def test_a_method_runs_in_a_trainer_of_the_users_own(own_loader: bool) -> None:
    recipe = load_recipe(TINY_RECIPE)
    method = build_method(recipe)
    images = Shapes("train", size=32, count=64)
    loader: Any = ViewLoader(images, recipe.view_plan(), batch_size=32, seed=0)
    if own_loader:
        loader = DataLoader([{"views": batch["views"]} for batch in loader], batch_size=None)  # type: ignore[arg-type]
    before = method.encoder.model.conv1.weight.detach().clone()
    Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    ).fit(method, loader)  # fmt: skip
    assert not torch.equal(before, method.encoder.model.conv1.weight)
    assert int(method.batches_seen) == 2


@pytest.mark.parametrize(
    ("groups", "rank", "warns"), [(2, "0", False), (4, "0", True), (4, "1", False)]
)
def test_small_batch_norm_groups_are_warned_of_once_before_the_run(
    groups: int, rank: str, warns: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class CheckedError(Exception):
        """Stops the run after its checks."""

    def stop(*_: object) -> None:
        raise CheckedError

    monkeypatch.setattr(pretraining, "fit", stop)
    monkeypatch.setenv("RANK", rank)
    output = io.StringIO()
    with pytest.raises(CheckedError):
        pretrain(
            TINY_RECIPE, Shapes("train", size=32, count=96), tmp_path / "run",
            sets=[f"method.batch_norm_groups={groups}"], devices=2,
            console=Console(file=output, width=200),
        )  # fmt: skip
    assert output.getvalue().count("only 8 images per group") == int(warns)


def test_batch_norm_groups_that_devices_cannot_share_are_refused_before_the_run(
    tmp_path: Path,
) -> None:
    message = r"batch_norm_groups 4 does not fit 3 devices and 24 images .* nearest: 3 or 6"
    with pytest.raises(UsageError, match=message):
        pretrain(
            TINY_RECIPE, Shapes("train", size=32, count=96), tmp_path / "run",
            sets=["data.batch_size=48", "training.accumulate=2"], devices=3,
        )  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_a_loss_that_is_not_finite_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Method.training_step

    def poisoned(self: Method, batch: object, batch_idx: int) -> torch.Tensor:
        loss = original(self, batch, batch_idx)  # type: ignore[arg-type]
        if int(self.batches_seen) == 2:
            self.last = StepOutput(loss * float("nan"), self.last.embeddings)
        return self.last.loss

    monkeypatch.setattr(Method, "training_step", poisoned)
    source = Shapes("train", size=32, count=160)
    message = r"loss is nan at step 3; the last good checkpoint, of step 2, is 'checkpoint.ckpt'"
    with pytest.raises(RunError, match=message):
        pretrain(TINY_RECIPE, source, tmp_path / "run", sets=ONE_EPOCH)
    state = load_checkpoint(tmp_path / "run" / "checkpoint.ckpt")["state_dict"]
    assert all(bool(value.isfinite().all()) for value in state.values())


def test_weights_that_are_not_finite_are_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Method.on_after_backward

    def poisoned(self: Method) -> None:
        original(self)
        if int(self.batches_seen) == 2:
            next(p.grad for p in self.parameters() if p.grad is not None).fill_(float("inf"))

    monkeypatch.setattr(Method, "on_after_backward", poisoned)
    source = Shapes("train", size=32, count=160)
    with pytest.raises(RunError, match=r"no longer finite at step 2; .* of step 1"):
        pretrain(TINY_RECIPE, source, tmp_path / "run", sets=ONE_EPOCH)
    state = load_checkpoint(tmp_path / "run" / "checkpoint.ckpt")["state_dict"]
    assert all(bool(value.isfinite().all()) for value in state.values())


def test_embedding_std_is_one_on_the_sphere_and_zero_at_a_point() -> None:
    rows = torch.nn.functional.normalize(torch.randn(4000, 32), dim=1)
    assert embedding_std(rows) == pytest.approx(1, abs=0.05)
    assert embedding_std(rows[:1].expand(10, 32)) == pytest.approx(0, abs=1e-6)


def test_a_collapsed_embedding_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Method.training_step

    def collapsed(self: Method, batch: object, batch_idx: int) -> torch.Tensor:
        loss = original(self, batch, batch_idx)  # type: ignore[arg-type]
        self.last.embeddings = torch.ones(8, 4) / 2
        return loss

    monkeypatch.setattr(Method, "training_step", collapsed)
    with pytest.warns(UserWarning, match="the embedding has collapsed"):
        pretrain(
            TINY_RECIPE, Shapes("train", size=32, count=64), tmp_path / "run",
            sets=[*ONE_EPOCH, "training.log_steps=1"],
        )  # fmt: skip


def test_the_python_functions_are_those_of_the_commands(tmp_path: Path) -> None:
    source = Shapes("train", size=32, count=96)
    run = unshortcut.pretrain(TINY_RECIPE, source, tmp_path / "run", sets=ONE_EPOCH)
    result = unshortcut.probe(
        run.folder, source, "knn", tests={"val": Shapes("val", size=32, count=50)}
    )
    assert 0 <= result.scores["val"].mean <= 100
    features = unshortcut.embed(run.folder, source, tmp_path / "features.npz")
    with np.load(tmp_path / "features.npz") as stored:
        assert stored["features"].shape == (96, 16)
        np.testing.assert_array_equal(stored["features"], features.values)
        np.testing.assert_array_equal(stored["labels"], source.labels)
        assert stored["identities"][3] == source.identity(3)


def test_signals_mean_after_a_training_what_they_meant_before(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    source = Shapes("train", size=32, count=64)
    pretrain(TINY_RECIPE, source, tmp_path / "run", sets=ONE_EPOCH)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
