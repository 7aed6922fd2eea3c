"""Two commands at once: neither trains what the other is training."""

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.reproduction.small import RECIPE
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction import experiment as module
from unshortcut.reproduction.experiment import Experiment
from unshortcut.reproduction.locks import locked
from unshortcut.reproduction.training_job import TrainingJob


def hold(folder: Path, talk: Connection) -> None:
    with locked(folder) as ours:
        talk.send(ours)
        talk.recv()


def test_a_folder_is_for_one_process_until_it_lets_go_or_dies(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")  # only to hold a lock
    ours, theirs = context.Pipe()
    process = context.Process(target=hold, args=(tmp_path / "new", theirs))
    process.start()
    assert ours.recv() is True
    with locked(tmp_path / "new") as mine:
        assert mine is False
    with locked(tmp_path / "another") as mine:
        assert mine is True
    process.kill()
    process.join()
    with locked(tmp_path / "new") as mine:
        assert mine is True


def test_what_another_command_is_busy_with_comes_last_and_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = load_recipe(RECIPE)
    busy, free = (TrainingJob(name, recipe, "shapes", tmp_path / name) for name in ("busy", "free"))
    order: list[str] = []

    def train(self: TrainingJob, console: Any) -> None:
        order.append(self.variant)
        finish(self)

    def finish(training: TrainingJob) -> None:
        training.run.path.mkdir(parents=True)
        training.run.result.write_text("{}")
        (training.folder / "seconds.json").write_text('{"seconds": 1}')

    monkeypatch.setattr(TrainingJob, "train", train)
    monkeypatch.setattr(module, "require_same", lambda run, recipe: None)
    held = locked(busy.folder)
    assert held.__enter__()

    def wait(seconds: float) -> None:
        finish(busy)  # by the other command, which then lets go
        held.__exit__(None, None, None)

    monkeypatch.setattr(module.time, "sleep", wait)
    experiment = Experiment(
        [busy, free], lambda t: {"x": float(len(order))}, "small", Console(stderr=True)
    )
    experiment.run()
    assert order == ["free"] and experiment.trained == 1
    assert set(experiment.metrics) == {"busy", "free"}
    assert "waiting for another command that is running busy" in capsys.readouterr().err
