"""The forecast of a run: numbers by hand, sizes of real files, data that are not here."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from tests.small import TINY, TINY_RECIPE
from unshortcut.data.named import needs_download
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.optimization import OptimizerSettings, build_optimizer
from unshortcut.recipes.load import load_recipe
from unshortcut.training import throughput
from unshortcut.training.folder import RunFolder
from unshortcut.training.footprint import optimizer_bytes
from unshortcut.training.forecasting import Forecast, Speed, forecast
from unshortcut.training.pretraining import build_method, pretrain

SOURCE = Shapes("train", size=32, count=100)


@pytest.fixture(scope="module")
def imagenet() -> Forecast:
    sets = ["training.accumulate=2", "schedule.warmup_epochs=10", "schedule.per=step"]
    return forecast("moco-v2-imagenet", sets=sets, devices=4, images_per_second=1500, seconds=0.2)


def test_batches_and_steps_are_those_of_the_recipe(imagenet: Forecast) -> None:
    assert imagenet.device_batch == 256 // 4 // 2 == 32
    assert imagenet.batch_norm_groups == 8 and imagenet.images_per_group == 256 // 2 // 8 == 16
    assert imagenet.steps_per_epoch == 1_281_167 // 256 == 5004
    assert imagenet.steps == 200 * 5004
    assert imagenet.views == ("query", "key")
    assert imagenet.recipe.paper is not None


def test_time_and_views_follow_from_the_speed(imagenet: Forecast) -> None:
    assert imagenet.hours == pytest.approx(200 * 5004 * 256 / 1500 / 3600)
    assert imagenet.views_needed == 3000
    assert imagenet.views_per_core > 0
    assert imagenet.views_made == imagenet.views_per_core * imagenet.view_cores
    slower = replace(imagenet, speed=Speed(750))
    assert slower.hours == pytest.approx(2 * (imagenet.hours or 0))
    unknown = replace(imagenet, speed=None)
    assert unknown.hours is None and unknown.views_needed is None


def test_learning_rates_rise_to_the_recipes_and_fall_along_a_cosine(imagenet: Forecast) -> None:
    per_epoch, total = 5004, 200 * 5004
    assert imagenet.learning_rate(0) == pytest.approx(0.03 / (10 * per_epoch))
    assert imagenet.learning_rate(5 * per_epoch) == pytest.approx(0.03 / 2)
    assert imagenet.peak_learning_rate == pytest.approx(0.03)
    assert imagenet.learning_rate(105 * per_epoch) == pytest.approx(0.03 / 2)  # halfway down
    curve = imagenet.learning_rates(41)
    assert len(curve) == 41
    assert curve[0] == imagenet.learning_rate(0) and curve[-1] == imagenet.learning_rate(total - 1)
    assert curve.index(max(curve)) == 2  # 10 of 200 epochs


def test_memory_is_that_of_a_resnet50_its_copy_and_its_queue(imagenet: Forecast) -> None:
    encoder = 25_557_032 - (2048 * 1000 + 1000)  # torchvision's count without the classifier
    head = (2048 * 2048 + 2048) + (2048 * 128 + 128)
    size = imagenet.footprint
    assert size.num_trained == encoder + head
    assert size.trained == size.frozen == size.optimizer == 4 * size.num_trained
    (queue,) = size.memories
    assert (queue.kind, queue.rows, queue.dim) == ("queue", 65536, 128)
    assert queue.num_bytes == 65536 * 128 * 4
    assert size.device == 4 * 4 * size.num_trained + queue.num_bytes
    statistics = 2 * 2 * 26_560 * 4  # running mean and variance of both encoders
    expected = 3 * size.trained + queue.num_bytes + statistics
    assert size.checkpoint == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("optimizer", ["{name: sgd, lr: 0.01}", "{name: adamw, lr: 0.001}"])
def test_a_real_checkpoint_has_the_predicted_size(optimizer: str, tmp_path: Path) -> None:
    sets = [
        "schedule.epochs=1", "method.hidden=512", "method.dim=128",
        "method.negatives.queue.size=16384", f"optimizer={optimizer}",
    ]  # fmt: skip
    planned = forecast(TINY_RECIPE, SOURCE, sets=sets, images_per_second=1, seconds=0.01)
    run = pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=sets)
    written = RunFolder(run.folder).checkpoint.stat().st_size
    assert planned.footprint.checkpoint == pytest.approx(written, rel=0.02)


@pytest.mark.parametrize("name", ["sgd", "adamw", "lars", "lamb", "adafactor"])
def test_the_state_of_an_optimizer_is_counted_as_it_is(name: str) -> None:
    settings = OptimizerSettings(name=name)
    method = build_method(load_recipe(TINY_RECIPE))
    optimizer = build_optimizer(method, settings)
    for parameter in method.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    tensors = [v for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)]
    expected = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    assert expected > 0
    assert optimizer_bytes(method, settings) == expected


@pytest.mark.parametrize(
    ("recipe", "kinds"),
    [
        ("cmc-shapes", ["memory bank", "memory bank"]),
        ("looc-color-rotation-shapes", ["queue"] * 3),
        ("densecl-shapes", ["queue"] * 2),
        ("byol-shapes", []),
    ],
)
def test_every_memory_of_a_method_is_listed(recipe: str, kinds: list[str]) -> None:
    found = forecast(recipe, SOURCE, sets=["data.batch_size=32"], images_per_second=1, seconds=0)
    assert [memory.kind for memory in found.footprint.memories] == kinds
    assert all(m.rows == len(SOURCE) for m in found.footprint.memories if m.kind != "queue")


def test_training_is_measured_where_no_speed_is_given() -> None:
    found = forecast(TINY_RECIPE, SOURCE, seconds=0.2)
    assert found.speed is not None and found.speed.images_per_second > 0
    assert found.speed.measured_batch is not None and 4 <= found.speed.measured_batch <= 32
    assert found.data.known_from == "opened" and found.data.num_images == 100
    supervised = forecast("supervised-imagenet100", seconds=0, sets=[
        f"encoder={{name: resnet18, options: {TINY.options}}}", "views.size=32",
    ])  # fmt: skip
    assert supervised.speed is not None, "made images have a class"


def test_what_this_machine_cannot_execute_is_noted_and_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    sets = ["training.precision=16-mixed"]
    found = forecast(TINY_RECIPE, SOURCE, sets=sets, seconds=0)
    assert found.speed is None and found.hours is None
    assert "16-mixed needs a GPU" in str(found.obstacle)


# Data


def test_published_sizes_serve_where_the_data_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    assert needs_download("cifar10") and not needs_download("shapes")
    options: Any = {"images_per_second": 1, "seconds": 0}
    for recipe, count in ("moco-v2-cifar10", 50_000), ("moco-v2-texture-a2-imagenet100", 126_689):
        found = forecast(recipe, **options)
        assert (found.data.num_images, found.data.known_from) == (count, "stated")
    doubled = forecast("moco-v2-anisotropic-doubled-imagenet", **options)
    assert doubled.data.num_images == 2 * 1_281_167
    given = forecast("moco-v2-openimages", num_images=1000, **options)
    assert (given.data.num_images, given.data.known_from) == (1000, "given")
    with pytest.raises(UsageError, match=r"its size is not known: .* --num-images"):
        forecast("moco-v2-openimages", **options)
    with pytest.raises(UsageError, match="'cifar10@test' is not on this machine"):
        forecast("moco-v2-cifar10", "cifar10@test", **options)
    with pytest.raises(UsageError, match="no such folder or file"):
        forecast("moco-v2-imagenet", "/nowhere/imagenet", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["data.batch_size=30"], "batch_norm_groups 4 does not fit"),
        (["data.batch_size=128"], "larger than the data, which have 100"),
        (["method.negatives=[]"], r"method\.negatives is empty"),
        (["training.accumulate=2", "data.batch_size=36"], "batch_norm_groups 4 does not fit"),
        (["optimizer.options={unknown: 1}"], r"optimizer\.options"),
        (["encoder={name: dla46_c}", "training.gradient_checkpointing=true"], "timm cannot"),
    ],
)
def test_bad_settings_are_found_as_in_a_run(sets: list[str], message: str, tmp_path: Path) -> None:
    for call in (
        lambda: forecast(TINY_RECIPE, SOURCE, sets=sets, images_per_second=1, seconds=0),
        lambda: pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=sets),
    ):
        with pytest.raises(UsageError, match=message):
            call()
    assert not (tmp_path / "run").exists()


def test_weights_to_start_from_must_fit(tmp_path: Path) -> None:
    run = pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=["schedule.epochs=1"])
    options: Any = {"images_per_second": 1, "seconds": 0}
    forecast(TINY_RECIPE, SOURCE, init=run.folder, **options)
    narrow = ["encoder.options.channels=[4,4,8,8]"]
    with pytest.raises(UsageError, match="do not fit"):
        forecast(TINY_RECIPE, SOURCE, init=run.folder, sets=narrow, **options)


def test_a_recipes_own_published_data_are_opened(tmp_path: Path) -> None:
    for number, name in enumerate(("n01558993", "n01692333", "n00000000")):
        for image in range(8):
            path = tmp_path / name / f"{image}.png"
            path.parent.mkdir(exist_ok=True)
            Image.new("RGB", (32, 32), (0, 0, 80 * number)).save(path)
    recipe = {**TINY_RECIPE, "data": {"name": f"imagenet100:{tmp_path}", "batch_size": 16}}
    found = forecast(recipe, images_per_second=1, seconds=0.01)
    assert (found.data.num_images, found.data.known_from) == (16, "opened")


def test_made_images_are_photographs_or_small_arrays() -> None:
    large, small = throughput.MadeImages(500, 375), throughput.MadeImages(32, 32)
    for images, shape in (large, (375, 500, 3)), (small, (32, 32, 3)):
        assert images.image(0).pixels().shape == shape
        assert images.image(0).pixels().std() > 10
    assert large.image(1).pixels(4).shape == (94, 125, 3), "decoded smaller, as JPEG can be"
