"""Training in phases: each from the weights of the one before, in a folder of its own."""

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

import unshortcut
from tests.training.killing import before, in_step, killed
from tests.training.phased import COUNT, PHASES, PLAIN, QUIET, SECOND, Place
from unshortcut.build.api import filter_data
from unshortcut.data.shapes import Shapes, source
from unshortcut.errors import InterruptedRunError, UsageError
from unshortcut.methods.method import Method
from unshortcut.models.card import read_card
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.training import pretraining
from unshortcut.training.contact_sheet import show
from unshortcut.training.folder import RunFolder
from unshortcut.training.forecasting import forecast, forecast_phases
from unshortcut.training.phases import trainings_of
from unshortcut.training.projection import load_method


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("phases"))


@pytest.fixture(scope="module")
def whole(place: Place, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run in two phases that nothing has interrupted."""
    return place.run(tmp_path_factory.mktemp("whole") / "run")


def test_phases_equal_two_runs_of_which_the_second_starts_from_the_first(
    place: Place, whole: RunFolder, tmp_path: Path
) -> None:
    first = place.run(tmp_path / "first", recipe=place.doubled)
    second = place.run(tmp_path / "second", *SECOND, recipe=place.doubled, init=first.path)
    one, two = trainings_of(load_recipe(place.recipe), whole)
    assert [one.path.name, two.path.name] == ["1-doubled", "2-originals"]
    assert one.weights.read_bytes() == first.weights.read_bytes()
    assert two.weights.read_bytes() == second.weights.read_bytes()
    assert one.weights.read_bytes() != two.weights.read_bytes()
    assert one.read_metadata()["num_images"] == 2 * COUNT
    assert two.read_metadata()["num_images"] == COUNT
    assert two.read_metadata()["init"] == "1-doubled"


def test_the_run_is_an_ordinary_run_with_the_encoder_of_the_last_phase(
    place: Place, whole: RunFolder
) -> None:
    last = RunFolder(whole.path / "2-originals")
    assert whole.weights.read_bytes() == last.weights.read_bytes()
    stored = load_recipe(whole.recipe)
    assert to_mapping(stored) == to_mapping(load_recipe(place.recipe))
    card = read_card(whole.weights)
    assert card.preprocessing.size == 32 and card.recipe == to_mapping(stored)
    model = load_model(whole.path)
    assert model.classes == Shapes("train").classes and model.logits is not None
    assert json.loads(whole.result.read_text())["metrics"]["loss"] > 0
    assert json.loads(whole.result.read_text())["model"] == "run"
    text = (whole.path / "README.txt").read_text()
    assert "1-doubled/" in text and "2-originals/" in text
    method, recipe = load_method(whole.path)
    assert recipe.schedule.epochs == 2 and not recipe.phases
    trained = model.module.state_dict()  # type: ignore[union-attr]
    for name, value in method.encoder.state_dict().items():
        assert torch.equal(value, trained[f"encoder.{name}"]), name


def test_probe_and_export_work_on_it(place: Place, whole: RunFolder, tmp_path: Path) -> None:
    photos = place.photos
    found = unshortcut.probe(whole.path, photos, "knn", tests=[photos], console=QUIET)
    assert found.scores
    assert unshortcut.export(whole.path, "timm", tmp_path / "encoder.timm.pt").is_file()


def test_a_run_that_is_killed_within_and_between_phases_ends_with_the_same_weights(
    whole: RunFolder, tmp_path: Path
) -> None:
    own = Place(tmp_path)
    out = tmp_path / "run"
    with killed(in_step(1, 2)):
        own.run(out)
    assert RunFolder(out / "1-doubled").checkpoint.is_file()
    with killed(before("save_encoder")):
        own.run(out, resume=True)
    with killed(before("write_result")):
        own.run(out, resume=True)
    assert not RunFolder(out / "1-doubled").result.exists()
    with killed(before("wait_for_ranks")):
        own.run(out, resume=True)
    shutil.rmtree(own.copy)  # what is finished needs no data
    with killed(in_step(2, 0)):
        own.run(out, resume=True)
    assert not RunFolder(out / "2-originals").checkpoint.exists()
    with killed(in_step(2, 3)):
        own.run(out, resume=True)
    with killed(before("finish_run")):
        own.run(out, resume=True)
    assert not RunFolder(out).weights.exists()
    for _ in range(2):  # resuming a finished run changes nothing
        run = own.run(out, resume=True)
        assert run.weights.read_bytes() == whole.weights.read_bytes()
        assert json.loads(run.result.read_text())["metrics"] == pytest.approx(
            json.loads(whole.result.read_text())["metrics"]
        )


def test_a_signal_says_how_to_go_on_and_the_phase_is_resumed(
    place: Place, whole: RunFolder, tmp_path: Path
) -> None:
    start = Method.on_train_batch_start

    def stop_in_the_second_phase(method: Method, batch: Any, batch_idx: int) -> None:
        start(method, batch, batch_idx)
        if method.training_context.schedule.epochs == 2 and int(method.batches_seen) == 0:
            signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Method, "on_train_batch_start", stop_in_the_second_phase)
        with pytest.raises(InterruptedRunError, match="To continue: again --resume"):
            place.run(tmp_path / "run", command="again")
    run = place.run(tmp_path / "run", resume=True)
    assert run.weights.read_bytes() == whole.weights.read_bytes()


def test_another_recipe_is_refused_and_a_moved_copy_is_not(place: Place, tmp_path: Path) -> None:
    out, moved = tmp_path / "run", tmp_path / "moved"
    with killed(in_step(1, 1)):
        place.run(out)
    with pytest.raises(UsageError, match=r"phases.1.optimizer.lr: 0.001 -> 0.5"):
        place.run(out, "phases.originals.optimizer.lr=0.5", resume=True)
    with pytest.raises(UsageError, match="already holds a run; continue it with --resume"):
        place.run(out)
    shutil.copytree(place.copy, moved)
    changed = [{"name": "doubled", "data": {"filtered_copy": str(moved)}}, PHASES[1]]
    with killed(in_step(1, 2)):
        place.run(out, recipe={**place.doubled, "phases": changed}, resume=True)


def test_other_data_for_a_later_phase_are_refused_when_the_first_is_finished(
    place: Place, tmp_path: Path
) -> None:
    out, fewer = tmp_path / "run", tmp_path / "fewer"
    with killed(in_step(2, 1)):
        place.run(out)
    assert RunFolder(out / "1-doubled").result.is_file()
    shutil.rmtree(out / "2-originals")
    shutil.copytree(place.photos, fewer)
    next(fewer.rglob("*.png")).unlink()
    with pytest.raises(UsageError, match="the data of '2-originals' differ from those of the run"):
        pretraining.pretrain(place.recipe, fewer, out, resume=True, console=QUIET)
    place.run(out, resume=True)


def test_weights_to_start_from_are_given_again_or_stated_once(place: Place, tmp_path: Path) -> None:
    out, first = tmp_path / "run", place.run(tmp_path / "first", recipe=place.doubled)
    with killed(in_step(1, 1)):
        place.run(out, init=first.path)
    shutil.rmtree(out / "1-doubled")
    with pytest.raises(UsageError, match="was started with --init first; give it again"):
        place.run(out, resume=True)
    stated = f"phases.doubled.init={first.path}"
    with pytest.raises(UsageError, match="--init: the first phase, 'doubled', states 'init' itse"):
        place.run(tmp_path / "other", stated, init=first.path)


# What is refused before anything is written


def refused(place: Place, tmp_path: Path, message: str, *sets: str, **options: Any) -> None:
    with pytest.raises(UsageError, match=message):
        place.run(tmp_path / "run", *sets, **options)
    assert not (tmp_path / "run").exists()


def test_a_copy_without_half_of_its_images_is_refused(place: Place, tmp_path: Path) -> None:
    half = tmp_path / "half"
    shutil.copytree(place.copy, half)
    for path in sorted(half.rglob("*.png"))[::2]:
        path.unlink()
    message = r"^phase 'doubled': the copy '.*half': about 50% of the 64 images cannot be read"
    refused(place, tmp_path, message, f"data.filtered_copy={half}")
    message = "^phase 'doubled': there is no copy of a data set at nowhere"
    refused(place, tmp_path, message, "data.filtered_copy=nowhere")


def test_a_later_phase_is_checked_before_the_first_starts(place: Place, tmp_path: Path) -> None:
    unlabeled = tmp_path / "unlabeled"
    unlabeled.mkdir()
    for number, path in enumerate(sorted(place.photos.rglob("*.png"))):
        shutil.copy(path, unlabeled / f"{number}.png")
    message = "^phase 'originals': method 'supervised' needs labels, and the data have none"
    refused(place, tmp_path, message, f"phases.originals.data.name={unlabeled}")
    message = "^phase 'originals': .*larger than the data, which have 64"
    refused(place, tmp_path, message, "phases.originals.data.batch_size=128")
    message = "^phase 'originals': method.mixup mixes pairs .* 21 images"
    refused(
        place, tmp_path, message, "phases.originals.data.batch_size=21",
        "phases.originals.method={mixup: 0.2}",
    )  # fmt: skip


def test_data_of_a_phase_are_not_replaced_by_those_of_the_run(place: Place, tmp_path: Path) -> None:
    few = tmp_path / "few"
    shutil.copytree(place.photos, few)
    for path in sorted(few.rglob("*.png"))[:16]:
        path.unlink()
    run = place.run(tmp_path / "run", f"phases.originals.data.name={few}")
    assert RunFolder(run.path / "1-doubled").read_metadata()["num_images"] == 2 * COUNT
    assert run.last_phase.read_metadata()["num_images"] == COUNT - 16


# Forecasts and contact sheets


def test_every_phase_is_forecast(place: Place, whole: RunFolder) -> None:
    first, second = forecast_phases(
        place.recipe, place.photos, images_per_second=10, seconds=0, devices=1
    )
    assert (first.phase, second.phase) == ("doubled", "originals")
    assert (first.data.num_images, second.data.num_images) == (128, 64)
    assert (first.steps, second.steps) == (4, 4)
    assert second.peak_learning_rate == pytest.approx(1e-3)
    assert second.hours == pytest.approx(4 * 32 / 10 / 3600)
    with pytest.raises(UsageError, match="forecast_phases"):
        forecast(place.recipe, place.photos)
    with pytest.raises(UsageError, match=r"^phase 'originals': .*larger than the data"):
        forecast_phases(
            place.recipe, place.photos, sets=["phases.originals.data.batch_size=128"],
            images_per_second=10, seconds=0,
        )  # fmt: skip
    assert load_recipe(place.recipe).total_epochs == 3
    assert load_recipe(place.doubled).total_epochs == 1


def test_phases_with_other_views_are_drawn_below_each_other(place: Place) -> None:
    one = show(place.doubled, place.photos, num_images=2, samples=1)
    both = show(place.recipe, place.photos, num_images=2, samples=1)
    assert both.height > 1.5 * one.height
    same = {**place.doubled, "phases": [{"name": "a"}, {"name": "b", "optimizer": {"lr": 1}}]}
    assert show(same, place.photos, num_images=2, samples=1).size == one.size


def test_a_copy_of_the_embedded_shapes_is_made_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(source.COUNTS, "train", 48)
    monkeypatch.chdir(tmp_path)
    made = filter_data(
        "shapes@train", "shapes-anisotropic", "anisotropic", workers=1, console=QUIET, kappa=60
    )
    assert made.made == 48
    small = {key: PLAIN[key] for key in ("views", "encoder", "training")}
    recipe = {**small, "extends": "supervised-doubled-shapes", "data": {"batch_size": 16}}
    first, last = (phase.recipe for phase in load_recipe(recipe).resolved_phases())
    assert first.data.filtered_copy == "shapes-anisotropic" and last.data.filtered_copy is None
    found = forecast_phases(recipe, images_per_second=1, seconds=0)
    assert [one.data.num_images for one in found] == [96, 48]
    copied = pretraining.open_run_data(first, None, QUIET, visible=False)
    assert len(copied.source) == 96 and not copied.unreadable
    assert copied.source.labels is not None
    assert (copied.source.labels[:48] == copied.source.labels[48:]).all()
