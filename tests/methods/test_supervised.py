"""Supervised training: the loss is cross-entropy, it learns, and it needs labels."""

from pathlib import Path

import pytest
import torch
from PIL import Image
from torch.nn import functional as F

from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.small import PlainEncoder, random_views
from unshortcut.data.folder import open_folder
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.methods.supervised import Supervised, SupervisedSettings


def build(**settings: float) -> Supervised:
    torch.manual_seed(0)
    context = TrainingContext(num_images=9, num_classes=3)
    return SupervisedSettings(**settings).build(PlainEncoder(), context).double()


def test_the_loss_is_the_cross_entropy_of_a_linear_classifier() -> None:
    method = build()
    views, label = random_views(("query",), 6, seed=0), torch.tensor([0, 1, 2, 2, 1, 0])
    batch = method.loss(Batch(views, label=label))
    assert method.classifier is not None
    features = method.encoder(views["query"])
    logits = features @ method.classifier.weight.T + method.classifier.bias
    chosen = logits[torch.arange(6), label]
    by_hand = (logits.exp().sum(dim=1).log() - chosen).mean()
    torch.testing.assert_close(batch.loss, by_hand)
    torch.testing.assert_close(batch.loss, F.cross_entropy(logits, label))
    right = (logits.argmax(1) == label).double().mean()
    torch.testing.assert_close(batch.metrics["accuracy"], right, check_dtype=False)
    torch.testing.assert_close(method.embed(views["query"]), F.normalize(features, dim=1))


def test_a_few_steps_learn_the_labels_of_a_batch() -> None:
    method = build()
    views, label = random_views(("query",), 12, seed=0), torch.arange(12) % 3
    optimizer = torch.optim.SGD(method.parameters(), lr=0.5)
    for _ in range(60):
        batch = method.loss(Batch(views, label=label))
        optimizer.zero_grad()
        batch.loss.backward()
        optimizer.step()
    assert batch.metrics["accuracy"] == 1


def test_data_without_labels_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    source = Shapes("train", size=32, count=40)
    for index in range(40):
        Image.fromarray(source.image(index).pixels()).save(images / f"{index}.png")
    with pytest.raises(UsageError, match="needs labels, and the data have none"):
        small_run("supervised-shapes", tmp_path / "run", source=open_folder(images))
    assert not (tmp_path / "run").exists()


def test_without_data_it_embeds_and_loads_the_weights_of_a_run() -> None:
    trained, alone = build(), SupervisedSettings().build(PlainEncoder()).double()
    assert not alone.load_state_dict(trained.state_dict(), strict=False).missing_keys
    views = random_views(("query",), 4, seed=0)
    assert torch.equal(alone.embed(views["query"]), trained.embed(views["query"]))
    with pytest.raises(UsageError, match="needs labels"):
        alone.loss(Batch(views, label=torch.zeros(4, dtype=torch.long)))


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    sets = ["method.mixup=0.3", "method.label_smoothing=0.1"]
    assert_resumes_exactly("supervised-shapes", tmp_path, sets)


def soft_cross_entropy(method: Supervised, images: torch.Tensor, target: torch.Tensor) -> float:
    """Mean of -sum(target * log softmax), for targets (N, classes)."""
    assert method.classifier is not None
    logits = method.encoder(images) @ method.classifier.weight.T + method.classifier.bias
    logs = logits - logits.exp().sum(dim=1, keepdim=True).log()
    return float(-(target * logs).sum(dim=1).mean().detach())


def test_label_smoothing_spreads_a_share_of_the_label_over_all_classes() -> None:
    method = build(label_smoothing=0.3)
    views, label = random_views(("query",), 6, seed=0), torch.tensor([0, 1, 2, 2, 1, 0])
    target = 0.7 * torch.eye(3, dtype=torch.float64)[label] + 0.3 / 3
    expected = soft_cross_entropy(method, views["query"], target)
    assert method.loss(Batch(views, label=label)).loss.item() == pytest.approx(expected)
    assert build().loss(Batch(views, label=label)).loss.item() != pytest.approx(expected)
