"""Pix2Pix: its losses, the order of its updates, its runs, and what it refuses."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as F

from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.ranks import on_ranks
from tests.small import random_views
from tests.two_ranks import Trace, assert_joined_equal_one, run_steps
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import anisotropic_diffusion
from unshortcut.methods.alternating import frozen
from unshortcut.methods.method import Method, TrainingContext
from unshortcut.methods.pix2pix import Pix2Pix, Pix2PixSettings, psnr
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import NoEncoder
from unshortcut.recipes.load import load_recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.exporting import export_encoder
from unshortcut.training.folder import RunFolder
from unshortcut.training.forecasting import forecast
from unshortcut.training.logs import read_log
from unshortcut.training.machine import find_machine
from unshortcut.training.pretraining import build_method, check_method, pretrain
from unshortcut.training.projection import load_projection
from unshortcut.translation.discriminator import DiscriminatorSettings
from unshortcut.translation.residual import ResidualSettings
from unshortcut.translation.trained import load_generator
from unshortcut.translation.unet import UNetSettings

NO_ENCODER = "encoder={}"
"""Undoes the encoder of `small_runs.SMALL`."""
SIZE = 16


def settings(**changes: Any) -> Pix2PixSettings:
    values: dict[str, Any] = {
        "generator": UNetSettings(width=3, depth=2),
        "discriminator": DiscriminatorSettings(layers=1, width=3),
        "gan": 2.0,
    }
    return Pix2PixSettings(**(values | changes))


def build(**changes: Any) -> Pix2Pix:
    torch.manual_seed(0)
    context = TrainingContext(num_images=9, size=SIZE)
    return settings(**changes).build(NoEncoder(), context).double()


def pair(seed: int = 0) -> dict[str, Tensor]:
    return random_views(("input", "target"), 4, seed, SIZE)


def plain_losses(method: Pix2Pix, views: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The losses of discriminator and generator as in Pix2Pix, section 3."""
    assert method.discriminator is not None
    mean, std = (
        torch.tensor(values, dtype=torch.float64).view(3, 1, 1)
        for values in (method.training_context.mean, method.training_context.std)
    )
    x, y = ((views[name] * std + mean) * 2 - 1 for name in ("input", "target"))
    made = method.generator(x)
    network = method.discriminator.layers
    real, fake = network(torch.cat([x, y], 1)), network(torch.cat([x, made.detach()], 1))
    ones, zeros = torch.ones_like(real), torch.zeros_like(real)
    bce = F.binary_cross_entropy_with_logits
    of_discriminator = (bce(real, ones) + bce(fake, zeros)) / 2
    fooled = bce(network(torch.cat([x, made], 1)), ones)
    return of_discriminator, 2.0 * fooled + 100.0 * (made - y).abs().mean()


def test_the_losses_are_those_of_the_paper_and_each_trains_its_own_network() -> None:
    method, views = build(), pair()
    output = method.loss(Batch(views))
    output.loss.backward()
    found = {name: p.grad.clone() for name, p in method.named_parameters() if p.grad is not None}
    method.zero_grad()
    of_discriminator, of_generator = plain_losses(build(), views)
    torch.testing.assert_close(output.loss, of_discriminator + of_generator, rtol=1e-6, atol=0)
    torch.testing.assert_close(output.metrics["discriminator"], of_discriminator)

    plain = build()
    of_discriminator, of_generator = plain_losses(plain, views)
    assert plain.discriminator is not None
    for network, loss, prefix in (
        (plain.discriminator, of_discriminator, "discriminator"),
        (plain.generator, of_generator, "generator"),
    ):
        names, parameters = zip(*network.named_parameters(), strict=True)
        gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
        for name, gradient in zip(names, gradients, strict=True):
            torch.testing.assert_close(found[f"{prefix}.{name}"], gradient, rtol=1e-4, atol=1e-7)


def test_without_an_adversarial_weight_there_is_no_discriminator_and_the_loss_is_l1() -> None:
    method, views = build(gan=0.0), pair()
    assert list(method.networks()) == ["generator"]
    output = method.loss(Batch(views))
    made = method.generator(method.signed(views["input"]))
    expected = 100 * (made - method.signed(views["target"])).abs().mean()
    torch.testing.assert_close(output.loss, expected)
    with pytest.raises(UsageError, match="'l1' and 'gan' must not both be 0"):
        settings(gan=0.0, l1=0.0)


def test_images_of_0_to_255_are_minus_1_to_1_whatever_the_normalization() -> None:
    method = build().float()
    view = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16).expand(1, 3, 16, 16)
    signed = method.signed(method.normalize(view))
    torch.testing.assert_close(signed, view / 127.5 - 1, rtol=0, atol=1e-5)
    torch.testing.assert_close(method.normalized(signed), method.normalize(view))
    assert abs(float(psnr(signed, signed + 0.2)) - 20) < 0.3


def test_a_frozen_network_passes_gradients_on_and_gets_none() -> None:
    network, x = torch.nn.Linear(2, 2), torch.ones(1, 2, requires_grad=True)
    with frozen(network):
        loss = network(x).sum()
    loss.backward()
    assert x.grad is not None and network.weight.grad is None and network.weight.requires_grad


def test_the_target_is_the_diffusion_of_the_same_view() -> None:
    recipe = load_recipe("pix2pix-photos", ["views.size=24"])
    image = Shapes("train", size=48, count=8).image(3)
    views = recipe.view_plan()(image, 0, 0, 3)
    assert views["input"].shape == (24, 24, 3)
    expected = anisotropic_diffusion(views["input"], iterations=20, kappa=20)
    assert np.array_equal(views["target"], expected)
    assert not np.array_equal(views["target"], views["input"])


def test_one_step_of_a_run_updates_the_discriminator_and_then_the_generator(
    tmp_path: Path,
) -> None:
    sets = ["data.batch_size=8", "views.size=24", "data.workers=0", "schedule.epochs=1",
            "schedule.constant_epochs=0", "method.gan=3",
            "optimizer={name: sgd, lr: 0.01, momentum: 0, weight_decay: 0}"]  # fmt: skip
    source = Shapes("train", size=32, count=8)
    pretrain("pix2pix-shapes", source, tmp_path / "run", sets=sets)
    recipe = load_recipe("pix2pix-shapes", sets)
    method = build_method(recipe, source=source)
    assert isinstance(method, Pix2Pix) and method.discriminator is not None
    plan = recipe.view_plan()
    views = [plan(source.image(index), recipe.seed, 0, index) for index in range(8)]
    x, y = (
        torch.stack([torch.from_numpy(one[name]).permute(2, 0, 1) for one in views]) / 127.5 - 1
        for name in ("input", "target")
    )
    g, d = method.generator, method.discriminator
    sgd = {network: torch.optim.SGD(network.parameters(), lr=0.01) for network in (g, d)}
    made = g(x)
    loss = 0.5 * (F.softplus(-d(x, y)).mean() + F.softplus(d(x, made.detach())).mean())
    loss.backward()
    sgd[d].step()
    g.zero_grad()
    (3 * F.softplus(-d(x, made)).mean() + 100 * (made - y).abs().mean()).backward()
    sgd[g].step()
    state = load_checkpoint(RunFolder(tmp_path / "run").checkpoint)
    assert state["global_step"] == 1, "a batch is one step, however many optimizers there are"
    for name, value in method.named_parameters():
        torch.testing.assert_close(state["state_dict"][name], value.detach(), rtol=0, atol=1e-6)


def test_its_run_has_a_generator_that_is_nearer_to_the_target_and_no_encoder(
    tmp_path: Path,
) -> None:
    run = small_run("pix2pix-shapes", tmp_path / "run", [NO_ENCODER, "schedule.epochs=6"])
    files = {path.name for path in run.folder.iterdir()}
    assert {"generator.safetensors", "generator.json", "samples.png", "result.json"} <= files
    assert "encoder.safetensors" not in files
    entries = read_log(RunFolder(run.folder).log)
    assert {"loss", "l1", "gan", "discriminator", "psnr", "lr"} <= entries[-1].keys()
    assert [entry["step"] for entry in entries] == sorted({e["step"] for e in entries})
    assert entries[-1]["step"] == 18 and run.metrics["psnr"] == entries[-1]["psnr"]

    trained = load_generator(run.folder)
    assert trained.card.target is not None and trained.card.target["kappa"] == 60
    images = [Shapes("val", size=32, count=8).image(i).pixels() for i in range(8)]
    targets = [anisotropic_diffusion(image, iterations=20, kappa=60) for image in images]

    def error(outputs: list[Any]) -> float:
        pairs = zip(outputs, targets, strict=True)
        return float(np.mean([np.abs(one - other.astype(float)) for one, other in pairs]))

    assert error([trained(image) for image in images]) < 0.95 * error(images)
    with pytest.raises(UsageError, match="a filter and no encoder; apply it with `unshortcut filt"):
        run.model()
    with pytest.raises(UsageError, match="a filter and no encoder"):
        export_encoder(run.folder)
    with pytest.raises(UsageError, match="a run of 'pix2pix', which trains no encoder"):
        load_projection(run.folder)


def test_a_run_with_dropout_and_batch_norm_resumes_exactly(tmp_path: Path) -> None:
    generator = "method.generator={name: unet, width: 4, depth: 3, dropout: 0.5}"
    # The dropout of the published depth is in levels that 24 pixels do not have.
    sets = [NO_ENCODER, generator, "views.size=64", "method.generator.depth=6"]
    assert_resumes_exactly("pix2pix-shapes", tmp_path, sets)
    for part in ("safetensors", "json"):
        whole, stopped = (tmp_path / n / f"generator.{part}" for n in ("whole", "stopped"))
        assert whole.read_bytes() == stopped.read_bytes()


def in_eval_mode(method: Method) -> None:
    method.eval()  # batch statistics are those of a rank


def steps(rank: int, world: int) -> Trace:
    return run_steps(rank, world, settings(), 8, NoEncoder, in_eval_mode, SIZE)


def test_two_ranks_equal_one_for_both_networks() -> None:
    alone = steps(0, 1)
    first, second = on_ranks(2, steps)
    assert_joined_equal_one(alone, first, second)
    trained = {name.partition(".")[0] for name in alone.gradients[0]}
    assert {"generator", "discriminator"} <= trained


# Adam would turn rounding into whole steps where a gradient is nearly 0, and the batch statistics
# of two ranks are not those of one.
IN_PROCESSES = [
    "views.size=24", "data.workers=0", "data.batch_size=16", "training.checkpoint_steps=1",
    "method.discriminator.batch_norm=false", "optimizer={name: sgd, lr: 0.01, weight_decay: 0}",
]  # fmt: skip


def start(images: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    """A run of 12 steps in a process of its own."""
    words = ["pretrain", "pix2pix-shapes", "--data", str(images), "--out", str(out), *more]
    words += [word for change in IN_PROCESSES for word in ("--set", change)]
    return subprocess.Popen(
        [sys.executable, "-m", "unshortcut.cli.main", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finished(process: subprocess.Popen[str], out: Path) -> dict[str, Tensor]:
    """The weights of a run that has made all of its steps."""
    _, output = process.communicate(timeout=600)
    assert process.returncode == 0, output
    checkpoint = load_checkpoint(RunFolder(out).checkpoint)
    assert checkpoint["global_step"] == 12
    weights: dict[str, Tensor] = checkpoint["state_dict"]
    return weights


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    source = Shapes("train", size=32, count=96)
    for index in range(96):
        Image.fromarray(source.image(index).pixels()).save(folder / f"{index:02d}.png")
    return folder


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_weights(images: Path, tmp_path: Path) -> None:
    whole = finished(start(images, tmp_path / "whole"), tmp_path / "whole")
    out = tmp_path / "killed"
    killed, path = start(images, out), RunFolder(out).checkpoint
    while killed.poll() is None:
        if path.exists() and load_checkpoint(path)["global_step"] >= 4:
            break
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    resumed = finished(start(images, out, "--resume"), out)
    for name, value in whole.items():
        assert torch.equal(resumed[name], value), name


@pytest.mark.slow
def test_a_run_on_two_devices_has_the_weights_of_a_run_on_one(images: Path, tmp_path: Path) -> None:
    one, two = (
        finished(start(images, tmp_path / n, "--devices", n), tmp_path / n) for n in ("1", "2")
    )
    first = build_method(load_recipe("pix2pix-shapes", IN_PROCESSES)).state_dict()

    def distance(a: Mapping[str, Tensor], b: Mapping[str, Tensor], network: str) -> float:
        chosen = [name for name in one if name.startswith(f"{network}.")]
        return float(sum((a[name] - b[name]).square().sum() for name in chosen)) ** 0.5

    for network in ("generator", "discriminator"):
        # The gradient of L1 is a sign, which rounding can change.
        assert distance(one, two, network) < 0.01 * distance(one, first, network)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["method.generator={name: unet, depth: 4}", "views.size=24"], "multiple of 16, but views"),
        (["method.generator={name: unet}", "views.size=25"], "side is even, but views.size is 25"),
        (["method.discriminator.layers=4"], "layers 4 needs views of at least 48 pixels"),
        (
            ["training.accumulate=2"],
            "networks in turn: leave out 'training.accumulate'",
        ),
        (["training.gradient_clip=1"], "leave out 'training.gradient_clip'"),
        (["encoder.name=resnet18"], "has no encoder: leave out 'encoder'"),
        (["training.compile=true"], "has no encoder: leave out 'training.compile'"),
        (["method.target={name: resize}"], "must keep the size"),
        (["method.target={name: from_copy, path: x}"], "need no copy of the data"),
        (["method.target={name: pix2pix, weights: nowhere}"], "nowhere' does not exist"),
        (["method.target={name: pix2pix}"], "'weights' is missing: give the folder of a Pix2Pix"),
        (["schedule.kind=cosine"], "schedule.constant_epochs is for schedule.kind linear"),
    ],
)
def test_what_is_wrong_is_one_sentence_before_a_run(
    sets: list[str], message: str, tmp_path: Path
) -> None:
    source = Shapes("train", size=32, count=32)
    sets = ["data.workers=0", "views.size=24", *sets]
    with pytest.raises(UsageError, match=message) as caught:
        pretrain("pix2pix-shapes", source, tmp_path / "run", sets=sets)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_model_to_start_from_is_refused(tmp_path: Path) -> None:
    source = Shapes("train", size=32, count=32)
    with pytest.raises(UsageError, match="init: method 'pix2pix' has no encoder"):
        pretrain("pix2pix-shapes", source, tmp_path / "run", init="timm:resnet18@random")


def test_a_batch_of_one_is_for_pix2pix_only() -> None:
    assert load_recipe("pix2pix-imagenet").data.batch_size == 1
    with pytest.raises(UsageError, match=r"must be at least 2 for method 'moco', got 1"):
        load_recipe("moco-v2-shapes", ["data.batch_size=1"])


def test_a_forecast_counts_both_networks_and_their_optimizers() -> None:
    source = Shapes("train", size=32, count=64)
    sets = ["method.generator={name: residual, width: 4, depth: 3}", "views.size=24"]
    found = forecast("pix2pix-shapes", source, sets=sets, seconds=0)
    trained = sum(p.numel() for p in ResidualSettings(4, 3).build().parameters())
    method = build_method(load_recipe("pix2pix-shapes", sets), source=source)
    assert found.footprint.num_trained == sum(p.numel() for p in method.parameters()) > trained
    # Two moments of every parameter, and a count of steps for each tensor.
    moments = 2 * 4 * found.footprint.num_trained
    assert moments <= found.footprint.optimizer < 1.1 * moments
    assert found.speed is not None and found.speed.images_per_second > 0


def test_half_precision_is_refused_on_any_device() -> None:
    recipe = load_recipe("pix2pix-shapes", ["training.precision=16-mixed", "views.size=24"])
    with pytest.raises(UsageError, match=r"leave out 'training\.precision 16-mixed'"):
        check_method(build_method(recipe), recipe, find_machine(1))
