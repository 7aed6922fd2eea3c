"""InsDis against a direct transcription of its step, its bank, and a run of its recipe."""

import copy
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.methods.small_runs import assert_resumes_exactly
from tests.small import PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.methods.insdis import InsDis, InsDisSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.negatives.patch import PatchSettings

IMAGES = 11


def build(settings: InsDisSettings) -> InsDis:
    torch.manual_seed(0)
    return settings.build(PlainEncoder(), TrainingContext(num_images=IMAGES)).double()


def test_three_steps_equal_a_transcription_of_the_algorithm() -> None:
    method = build(InsDisSettings(dim=5, bank_negatives=6, bank_momentum=0.3))
    network = copy.deepcopy(nn.Sequential(method.encoder, method.head))
    memory = method.bank.bank.rows.clone()
    for step in range(3):
        view = random_views(("query",), 4, seed=step)["query"]
        index = torch.randperm(IMAGES, generator=torch.Generator().manual_seed(step))[:4]
        noise = torch.randint(IMAGES, (6,), generator=method.step_generator("bank"))
        loss = method.loss(Batch({"query": view}, index)).loss
        method.zero_grad()
        loss.backward()
        method.on_after_backward()

        network.zero_grad()
        embeddings = F.normalize(network(view), dim=1)
        logits = torch.stack(
            [
                torch.stack([row @ memory[own], *(row @ memory[other] for other in noise)]) / 0.07
                for row, own in zip(embeddings, index, strict=True)
            ]
        )
        expected = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long))
        expected.backward()
        for row, own in zip(embeddings.detach(), index, strict=True):
            mixed = 0.3 * memory[own] + 0.7 * row
            memory[own] = mixed / mixed.norm()

        torch.testing.assert_close(loss, expected)
        for ours, theirs in zip(
            (*method.encoder.parameters(), *method.head.parameters()),
            network.parameters(),
            strict=True,
        ):
            torch.testing.assert_close(ours.grad, theirs.grad)
            with torch.no_grad():
                ours -= 0.1 * ours.grad
                theirs -= 0.1 * theirs.grad
        torch.testing.assert_close(method.bank.bank.rows, memory)


def test_patch_negatives_join_those_of_the_bank_without_gradient_or_trace() -> None:
    torch.manual_seed(0)
    encoder = create_encoder(EncoderSettings(name="resnet18", options={"channels": [8] * 4}), 0)
    settings = InsDisSettings(dim=5, bank_negatives=6, negatives=(PatchSettings(alpha=1.5),))
    assert list(settings.view_transforms()) == ["query", "patch_negative"]
    method = settings.build(encoder, TrainingContext(num_images=IMAGES)).double()
    views = random_views(("query", "patch_negative"), 4, seed=0, size=32)
    index = torch.arange(4)
    tiles = method.encode_keys(views["patch_negative"])
    assert not tiles.requires_grad

    before = {name: buffer.clone() for name, buffer in encoder.named_buffers()}
    method.encode_keys(views["patch_negative"])
    assert all(torch.equal(before[name], buffer) for name, buffer in encoder.named_buffers())

    noise = method.bank.bank.rows[
        torch.randint(IMAGES, (6,), generator=method.step_generator("bank"))
    ]
    positives = method.bank.bank.rows[index].clone()
    loss = method.loss(Batch(views, index)).loss
    queries = method.embed(views["query"])
    logits = [
        (queries * positives).sum(1, keepdim=True),
        1.5 * (queries * tiles).sum(1, keepdim=True),
        queries @ noise.T,
    ]
    expected = F.cross_entropy(torch.cat(logits, 1) / 0.07, torch.zeros(4, dtype=torch.long))
    torch.testing.assert_close(loss, expected)


def test_batch_norm_in_the_head_leaves_nothing_that_all_images_share() -> None:
    method = build(InsDisSettings(dim=5, head_batch_norm=True))
    features = torch.randn(8, 6, dtype=torch.float64) + 3
    torch.testing.assert_close(method.head(features).mean(0), torch.zeros(5).double())
    torch.testing.assert_close(method.head(features + 2), method.head(features))


def test_the_bank_suffices_as_a_source_and_patches_may_be_absent() -> None:
    InsDisSettings().check(DeviceBatch(8))
    absent = InsDisSettings(negatives=(PatchSettings(alpha=0.0),))
    absent.check(DeviceBatch(8))
    assert list(absent.view_transforms()) == ["query"]


def test_a_batch_that_does_not_say_which_images_it_holds_is_refused() -> None:
    method = build(InsDisSettings(dim=5, bank_negatives=6))
    with pytest.raises(UsageError, match="no 'index'"):
        method.loss(Batch(random_views(("query",), 4, seed=0)))


def test_without_data_it_embeds_and_loads_the_weights_of_a_run() -> None:
    trained = build(InsDisSettings(dim=5))
    alone = InsDisSettings(dim=5).build(PlainEncoder()).double()
    assert not alone.load_state_dict(trained.state_dict(), strict=False).missing_keys
    images = random_views(("query",), 4, seed=0)["query"]
    assert torch.equal(alone.embed(images), trained.embed(images))


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    assert_resumes_exactly("insdis-shapes", tmp_path, ["method.bank_negatives=32"])
