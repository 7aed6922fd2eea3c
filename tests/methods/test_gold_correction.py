"""Gold loss correction: the loss by formula, and the estimate by a plain loop."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.small import PlainEncoder, random_views
from unshortcut.data.named import ArraySource
from unshortcut.data.noisy_labels import NoisyLabels
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.gold_correction import (
    GoldCorrection,
    GoldCorrectionSettings,
    corrected_cross_entropy,
    estimate_corruption,
)
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.load import from_module
from unshortcut.models.loaded import LoadedModel

CLASSES = ("a", "b", "c")


def drawn(*shape: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def test_the_loss_and_its_gradient_are_those_of_the_formula() -> None:
    logits = drawn(6, 3, seed=0).requires_grad_()
    corruption = drawn(3, 3, seed=1).softmax(dim=1)
    label, trusted = torch.tensor([0, 1, 2, 0, 1, 2]), torch.arange(6) < 2
    found = corrected_cross_entropy(logits, label, trusted, corruption)
    p, expected = logits.exp() / logits.exp().sum(dim=1, keepdim=True), []
    for row in range(6):
        given = int(label[row])
        likely = p[row, given]
        if not trusted[row]:
            likely = sum(corruption[k, given] * p[row, k] for k in range(3))  # type: ignore[assignment]
        expected.append(-torch.log(likely))
    torch.testing.assert_close(found, torch.stack(expected))
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    (expected_gradient,) = torch.autograd.grad(torch.stack(expected).sum(), logits)
    torch.testing.assert_close(gradient, expected_gradient)


@pytest.mark.parametrize("trusted", [torch.ones(8, dtype=torch.bool), torch.arange(8) % 2 == 0])
def test_without_corruption_it_is_cross_entropy(trusted: Tensor) -> None:
    method = method_of_three_classes()
    views, label = random_views(("query",), 8, seed=0), torch.arange(8) % 3
    found = method.loss(Batch(views, label=label, trusted=trusted)).loss
    assert method.classifier is not None
    logits = method.classifier(method.encoder(views["query"]))
    torch.testing.assert_close(found, F.cross_entropy(logits, label))


def test_trusted_labels_are_not_corrected() -> None:
    logits, label = drawn(4, 3, seed=2), torch.tensor([0, 1, 2, 0])
    anything = drawn(3, 3, seed=3).softmax(dim=1)
    trusted = torch.ones(4, dtype=torch.bool)
    found = corrected_cross_entropy(logits, label, trusted, anything)
    torch.testing.assert_close(found, F.cross_entropy(logits, label, reduction="none"))


def test_an_impossible_label_gives_a_finite_loss_and_gradient() -> None:
    logits = torch.zeros(1, 2, requires_grad=True)
    never = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    loss = corrected_cross_entropy(logits, torch.tensor([1]), torch.tensor([False]), never)
    loss.sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(loss).all() and torch.isfinite(logits.grad).all()


def test_the_estimate_is_the_mean_softmax_over_gold_images_of_each_class() -> None:
    source, model = noisy_images(), classifier()
    assert source.labels is not None and source.trusted is not None and model.logits is not None
    expected = np.eye(3)
    for label in range(3):
        rows = []
        for index in range(len(source)):
            if source.trusted[index] and source.labels[index] == label:
                image = torch.from_numpy(source.image(index).pixels()).permute(2, 0, 1)[None]
                logits = model.logits(image / 255)[0]
                rows.append((logits.double().exp() / logits.double().exp().sum()).detach().numpy())
        expected[label] = np.mean(rows, axis=0)
    found = estimate_corruption(model, source)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    method = method_of_three_classes()
    method.prepare(model, source)
    np.testing.assert_allclose(method.corruption.numpy(), expected, atol=1e-6)
    assert "corruption" in method.state_dict(), "a resumed run has it"


def test_what_is_missing_is_told() -> None:
    source, model = noisy_images(), classifier()
    with pytest.raises(UsageError, match="needs images with trusted labels"):
        estimate_corruption(model, source.source)
    with pytest.raises(UsageError, match="has other classes than the data"):
        estimate_corruption(classifier(("a", "b", "d")), source)
    with pytest.raises(UsageError, match="has no classifier of its own"):
        estimate_corruption(from_module("encoder", nn.Flatten(), Preprocessing(size=8)), source)
    method, views = method_of_three_classes(), random_views(("query",), 2, seed=0)
    with pytest.raises(UsageError, match="needs 'trusted'"):
        method.loss(Batch(views, label=torch.tensor([0, 1])))


def method_of_three_classes() -> GoldCorrection:
    torch.manual_seed(0)
    context = TrainingContext(num_images=8, num_classes=3)
    return GoldCorrectionSettings().build(PlainEncoder(), context).double()


def noisy_images() -> NoisyLabels:
    pixels = np.random.default_rng(0).integers(0, 255, (60, 8, 8, 3), dtype=np.uint8)
    source = ArraySource("images", pixels, CLASSES, np.arange(60) % 3)
    return NoisyLabels(source, "uniform", 0.5, 0.3, seed=0)


def classifier(classes: tuple[str, ...] = CLASSES) -> LoadedModel:
    torch.manual_seed(1)
    network = nn.Sequential(nn.Flatten(), nn.Linear(8 * 8 * 3, 3)).eval()
    preprocessing = Preprocessing(size=8, crop_share=1.0, mean=(0, 0, 0), std=(1, 1, 1))
    model = from_module("classifier", network, preprocessing)
    return replace(model, logits=model.features, classes=classes)
