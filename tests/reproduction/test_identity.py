"""The key of a training: all that its weights depend on, and nothing else."""

import json
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from tests.reproduction.small import RECIPE, images
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.negatives.patch import PatchSettings
from unshortcut.recipes.load import load_recipe, to_mapping, to_yaml
from unshortcut.reproduction.identity import require_same, training_key, without_absent
from unshortcut.reproduction.training_job import TrainingJob
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import pretrain

SOURCE = images()
KEY = training_key(load_recipe(RECIPE), SOURCE)


@pytest.mark.parametrize(
    "change",
    [
        "summary=another",
        "paper={where: somewhere}",
        "data.name=cifar10",
        "data.workers=3",
        "training.log_steps=3",
        "training.knn_epochs=3",
        "training.checkpoint_steps=9",
        "method.negatives.patch.alpha=2",
        "seed=0",
    ],
)
def test_what_changes_no_weight_changes_no_key(change: str) -> None:
    assert training_key(load_recipe(RECIPE, [change]), SOURCE) == KEY


@pytest.mark.parametrize(
    "change",
    [
        "seed=1",
        "schedule.epochs=3",
        "data.batch_size=16",
        "views.augmentations.color_jitter.p=0",
        "views.overrides={query: [{name: resize}]}",
        "encoder.name=resnet34",
        "encoder.options={layers: [1, 1, 1, 2], channels: [8, 8, 16, 16]}",
        "method.momentum=0.5",
        "method.loss.temperature=0.3",
        "method.negatives.queue.size=64",
        "method.negatives.patch.alpha=1.5",
        "method.negatives.patch.patch=[2, 8]",
        "method.negatives.patch.flip=true",
        "optimizer.lr=1",
        "training.precision=bf16-mixed",
    ],
)
def test_what_changes_weights_changes_the_key(change: str) -> None:
    assert training_key(load_recipe(RECIPE, [change]), SOURCE) != KEY


def test_the_content_of_the_data_counts() -> None:
    assert training_key(load_recipe(RECIPE), Shapes("train", size=24, count=64)) == KEY
    assert training_key(load_recipe(RECIPE), Shapes("train", size=24, count=65)) != KEY


def test_a_setting_at_its_default_does_not_count_however_it_is_said() -> None:
    spelled_out = to_mapping(load_recipe(RECIPE))
    assert training_key(load_recipe(spelled_out), SOURCE) == KEY
    del spelled_out["method"]["negatives"][1]["overlap"], spelled_out["encoder"]["small_stem"]
    assert PatchSettings().overlap is True and EncoderSettings().small_stem is False
    assert training_key(load_recipe(spelled_out), SOURCE) == KEY


def test_a_kept_run_of_another_default_is_refused(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "abc" / "run")
    run.path.mkdir(parents=True)
    recipe = load_recipe(RECIPE)
    run.recipe.write_text(to_yaml(load_recipe(recipe, ["data.workers=3"])))
    require_same(run, recipe)
    old = yaml.safe_load(to_yaml(recipe))
    old["method"]["momentum"] = 0.123
    run.recipe.write_text(yaml.safe_dump(old))
    with pytest.raises(UsageError, match=r"'abc' .* default of 'method.momentum' was 0.123"):
        require_same(run, recipe)


def test_a_source_of_negatives_without_weight_is_no_part_of_the_training() -> None:
    absent = load_recipe(RECIPE, ["method.negatives.patch.alpha=0"])
    queue_only = load_recipe(RECIPE, ["method.negatives=[{name: queue, size: 32}]"])
    assert training_key(absent, SOURCE) == training_key(queue_only, SOURCE) != KEY
    assert without_absent(absent) == queue_only
    assert without_absent(queue_only) is queue_only
    # The seed of a source depends on its place, so one before others counts.
    first = ["method.negatives=[{name: patch, alpha: 0}, {name: queue, size: 32}]"]
    assert training_key(load_recipe(RECIPE, first), SOURCE) != training_key(queue_only, SOURCE)


def test_a_source_without_weight_leaves_the_weights_as_they_are(tmp_path: Path) -> None:
    weights = []
    for name, change in (
        ("absent", "method.negatives.patch.alpha=0"),
        ("without", "method.negatives=[{name: queue, size: 32}]"),
    ):
        recipe = load_recipe(RECIPE, [change, "schedule.epochs=1"])
        pretrain(recipe, SOURCE, tmp_path / name)
        weights.append(RunFolder(tmp_path / name).weights.read_bytes())
    assert weights[0] == weights[1]


PHASES = "phases=[{name: a}, {name: b, optimizer: {lr: 1e-3}, data: {workers: 2}}]"


def test_phases_count_by_what_they_train_by(tmp_path: Path) -> None:
    key = training_key(load_recipe(RECIPE, [PHASES]), SOURCE)
    assert key != KEY
    harmless = ["phases.b.data.workers=5", "training.log_steps=3", "phases.b.summary=other"]
    assert training_key(load_recipe(RECIPE, [PHASES, *harmless]), SOURCE) == key
    # The same trainings, said otherwise.
    said = "phases=[{name: a, optimizer: {lr: 8.0e-3}}, {name: b}]"
    assert load_recipe(RECIPE).optimizer.lr == 8e-3
    again = load_recipe(RECIPE, ["optimizer.lr=1e-3", said])
    assert training_key(again, SOURCE) == key
    run = RunFolder(tmp_path / "abc" / "run")
    run.path.mkdir(parents=True)
    run.recipe.write_text(to_yaml(again))
    require_same(run, load_recipe(RECIPE, [PHASES]))
    for change in ("phases.b.optimizer.lr=2", "phases.b.init=null", "phases.a.seed=1", "seed=1"):
        other = load_recipe(RECIPE, [PHASES, change])
        assert training_key(other, SOURCE) != key, change
    with pytest.raises(UsageError, match=r"default of 'phases.1.optimizer.lr' was 0.001"):
        require_same(run, load_recipe(RECIPE, [PHASES, "phases.b.optimizer.lr=2"]))


def test_weights_to_start_from_count_with_their_content(tmp_path: Path) -> None:
    file, encoder = tmp_path / "encoder.safetensors", load_recipe(RECIPE).encoder

    def write(seed: int) -> None:
        made = create_encoder(encoder, seed)
        card = Card(encoder=encoder, preprocessing=Preprocessing(), dim=made.dim)
        save_encoder(made, card, file)

    write(0)
    recipe = load_recipe(RECIPE, [f"init={file}"])
    key = training_key(recipe, SOURCE)
    assert key != KEY == training_key(load_recipe(RECIPE, ["init=null"]), SOURCE)
    assert training_key(recipe, SOURCE) == key
    write(1)
    assert training_key(recipe, SOURCE) != key


def test_a_training_in_phases_counts_the_epochs_of_all(tmp_path: Path) -> None:
    job = TrainingJob("a", load_recipe(RECIPE, [PHASES, "schedule.epochs=4"]), "shapes", tmp_path)
    assert (job.recipe.total_epochs, job.epochs_done) == (8, 0)
    for name, entry in (("1-a", {"step": 9, "epoch": 4}), ("2-b", {"step": 2, "epoch": 1.5})):
        (job.run.path / name).mkdir(parents=True)
        (job.run.path / name / "log.jsonl").write_text(json.dumps(entry) + "\n")
    assert job.epochs_done == 5.5


def test_a_training_in_phases_is_run_and_found_again(tmp_path: Path) -> None:
    recipe = load_recipe(RECIPE, [PHASES, "schedule.epochs=1"])
    job = TrainingJob("a", recipe, SOURCE, tmp_path / training_key(recipe, SOURCE))
    assert not job.finished
    job.train(Console(quiet=True))
    assert job.finished and job.epochs_done == 2 and job.seconds is not None
    require_same(job.run, recipe)
