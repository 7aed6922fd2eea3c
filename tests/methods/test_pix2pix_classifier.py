"""The classifier that sees photographs and generated images: its losses, runs and refusals."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.ranks import on_ranks
from tests.small import PlainEncoder, random_views
from tests.translation.test_trained import write_generator
from tests.two_ranks import Trace, assert_joined_equal_one, run_steps
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.pix2pix_classifier import Pix2PixClassifier, Pix2PixClassifierSettings
from unshortcut.methods.step import Batch
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.forecasting import forecast
from unshortcut.training.logs import read_log
from unshortcut.training.pretraining import build_method
from unshortcut.translation.discriminator import DiscriminatorSettings
from unshortcut.translation.residual import ResidualSettings
from unshortcut.translation.trained import load_generator

SIZE = 16
GENERATOR = ResidualSettings(width=16, depth=6)
"""That of the recipe for shapes."""


class SixteenEncoder(PlainEncoder):
    """For views of 16 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Flatten(), nn.Linear(3 * SIZE * SIZE, self.dim), nn.Tanh())


def build(**changes: Any) -> Pix2PixClassifier:
    torch.manual_seed(0)
    values: dict[str, Any] = {
        "generator": ResidualSettings(width=3, depth=2),
        "discriminator": DiscriminatorSettings(layers=1, width=3, batch_norm=False),
        "gan": 2.0,
        "generated": 0.5,
        "classification": 0.25,
    }
    made = Pix2PixClassifierSettings(**(values | changes)).build(
        SixteenEncoder(), TrainingContext(num_images=9, num_classes=3, size=SIZE)
    )
    nn.init.normal_(made.generator.correction[-1].weight, std=0.1)  # type: ignore[arg-type, union-attr, index]
    return made.double()


def steps(rank: int, world: int) -> Trace:
    made = Pix2PixClassifierSettings(
        generator=ResidualSettings(width=3, depth=2),
        discriminator=DiscriminatorSettings(layers=1, width=3, batch_norm=False),
    )
    return run_steps(rank, world, made, 8, SixteenEncoder, size=SIZE)


def test_two_ranks_equal_one_for_all_networks() -> None:
    alone = steps(0, 1)
    first, second = on_ranks(2, steps)
    assert_joined_equal_one(alone, first, second)
    trained = {name.partition(".")[0] for name in alone.gradients[0]}
    assert {"encoder", "classifier", "generator", "discriminator"} <= trained


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_generator(tmp_path_factory.mktemp("pix2pix") / "run", GENERATOR)


def test_the_losses_and_what_each_network_gets_of_them() -> None:
    method = build()
    views = random_views(("input", "target"), 6, 0, SIZE)
    label = torch.tensor([0, 1, 2, 2, 1, 0])
    output = method.loss(Batch(views, label=label))
    output.loss.backward()
    found = {name: p.grad.clone() for name, p in method.named_parameters() if p.grad is not None}

    plain = build()
    assert plain.discriminator is not None and plain.classifier is not None
    x, y = plain.signed(views["input"]), plain.signed(views["target"])
    made = plain.generator(x)

    def entropy(images: torch.Tensor) -> torch.Tensor:
        assert plain.classifier is not None
        return F.cross_entropy(plain.classifier(plain.encoder(images)), label)

    photo, generated = entropy(views["input"]), entropy(plain.normalized(made))
    fooled = F.softplus(-plain.discriminator(x, made)).mean()
    translation = 2 * fooled + 100 * (made - y).abs().mean()
    real, fake = plain.discriminator(x, y), plain.discriminator(x, made.detach())
    judged = 0.5 * (F.softplus(-real).mean() + F.softplus(fake).mean())
    torch.testing.assert_close(output.loss, translation + photo + 0.5 * generated + judged)
    for network, prefix, loss in (
        (plain.generator, "generator", translation + 0.25 * 0.5 * generated),
        (plain.encoder, "encoder", photo + 0.5 * generated),
        (plain.classifier, "classifier", photo + 0.5 * generated),
        (plain.discriminator, "discriminator", judged),
    ):
        names, parameters = zip(*network.named_parameters(), strict=True)
        for name, gradient in zip(
            names, torch.autograd.grad(loss, parameters, retain_graph=True), strict=True
        ):
            torch.testing.assert_close(found[f"{prefix}.{name}"], gradient)


def test_the_first_optimizer_is_the_classifiers_and_every_parameter_has_one() -> None:
    method = build()
    assert list(method.networks()) == ["classifier", "generator", "discriminator"]
    optimized = {id(p) for module, _ in method.optimized() for p in module.parameters()}
    assert optimized == {id(p) for p in method.parameters()}
    rates = [settings.lr for _, settings in method.optimized()]
    assert rates == [method.training_context.optimizer.lr, 2e-4, 2e-4]


def test_its_run_starts_from_the_generator_and_exports_a_classifier_and_a_generator(
    trained: Path, tmp_path: Path
) -> None:
    sets = [f"method.weights={trained}", "schedule.epochs=1"]
    run = small_run("pix2pix-anisotropic-shapes", tmp_path / "run", sets)
    model = load_model(run.folder)
    assert model.classes is not None and model.logits is not None
    assert load_generator(run.folder).card.generator == GENERATOR
    entry = read_log(RunFolder(run.folder).log)[-1]
    assert {
        "accuracy",
        "accuracy_generated",
        "cross_entropy_generated",
        "l1",
        "gan",
    } <= entry.keys()
    recipe = load_recipe("pix2pix-anisotropic-shapes", sets)
    start = build_method(recipe, source=Shapes("train", size=32, count=96))
    before = load_generator(trained).network.state_dict()
    state = load_checkpoint(RunFolder(run.folder).checkpoint)["state_dict"]
    for name, value in before.items():
        assert torch.equal(start.state_dict()[f"generator.{name}"], value)
        assert not torch.equal(state[f"generator.{name}"], value), "it is trained too"


def test_it_resumes_exactly_with_three_optimizers(trained: Path, tmp_path: Path) -> None:
    assert_resumes_exactly("pix2pix-anisotropic-shapes", tmp_path, [f"method.weights={trained}"])


def test_a_forecast_needs_no_training(trained: Path) -> None:
    source = Shapes("train", size=32, count=64)
    sets = [f"method.weights={trained}", "views.size=24", "data.batch_size=32"]
    found = forecast(
        "pix2pix-anisotropic-shapes", source, sets=sets, images_per_second=1, seconds=0
    )
    assert found.footprint.optimizer > 0
    assert not next(load_generator(trained).network.parameters()).is_meta


def test_what_is_wrong_is_one_sentence_before_a_run(trained: Path, tmp_path: Path) -> None:
    other = write_generator(tmp_path / "other", ResidualSettings(4, 3))
    here = f"method.weights={trained}"
    cases = [
        ([], "set method.weights to the folder of a Pix2Pix run"),
        (["method.weights=nowhere"], "'nowhere' does not exist"),
        ([f"method.weights={other}"], "set method.generator to that of the weights"),
        ([here, "training.accumulate=2"], "leave out 'training.accumulate'"),
    ]
    for sets, message in cases:
        with pytest.raises(UsageError, match=message) as caught:
            small_run("pix2pix-anisotropic-shapes", tmp_path / "run", sets)
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match="needs labels, and the data have none"):
        Pix2PixClassifierSettings(generator=GENERATOR, gan=0.0).build(
            SixteenEncoder(), TrainingContext(num_images=9, size=SIZE)
        )
