"""MoCo against a direct transcription of its step, and which parameters saw which view."""

import copy
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

from tests.small import PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.negatives.queue import QueueSettings

SETTINGS = MoCoSettings(
    hidden=8, dim=5, momentum=0.7, negatives=(QueueSettings(12),), batch_norm_groups=4
)


def build(seed: int = 0) -> MoCo:
    torch.manual_seed(seed)
    return SETTINGS.build(PlainEncoder()).double()


def test_three_steps_equal_a_transcription_of_the_algorithm() -> None:
    method = build()
    query_net = copy.deepcopy(method.query_network)
    key_net = copy.deepcopy(method.query_network)
    queue = method.sources[0].queue.rows.clone()
    pointer = 0
    for step in range(3):
        views = random_views(("query", "key"), 8, seed=step)
        loss = method.loss(Batch(views)).loss
        method.zero_grad()
        loss.backward()
        method.on_after_backward()

        query = F.normalize(query_net(views["query"]), dim=1)
        with torch.no_grad():
            for slow, fast in zip(key_net.parameters(), query_net.parameters(), strict=True):
                slow.copy_(0.7 * slow + 0.3 * fast)
            key = F.normalize(key_net(views["key"]), dim=1)
        logits = torch.cat([(query * key).sum(1, keepdim=True), query @ queue.T.clone()], 1) / 0.2
        expected = F.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
        query_net.zero_grad()
        expected.backward()
        for row in key:
            queue[pointer] = row
            pointer = (pointer + 1) % 12

        torch.testing.assert_close(loss, expected)
        for ours, theirs in zip(
            method.query_network.parameters(), query_net.parameters(), strict=True
        ):
            torch.testing.assert_close(ours.grad, theirs.grad)
            with torch.no_grad():
                ours -= 0.1 * ours.grad
                theirs -= 0.1 * theirs.grad
        torch.testing.assert_close(method.sources[0].queue.rows, queue)
        assert int(method.sources[0].queue.pointer) == pointer


def test_the_key_network_starts_as_a_copy_and_takes_no_gradient() -> None:
    method = build()
    for key, query in zip(
        method.key_network.parameters(), method.query_network.parameters(), strict=True
    ):
        assert torch.equal(key, query)
        assert not key.requires_grad
        assert key.data_ptr() != query.data_ptr()


def test_each_network_sees_its_own_view_and_no_other() -> None:
    method = build()
    seen: dict[str, list[torch.Tensor]] = {"query": [], "key": []}
    method.encoder.register_forward_pre_hook(lambda _, inputs: seen["query"].append(inputs[0]))
    method.key_network.network[0].register_forward_pre_hook(
        lambda _, inputs: seen["key"].append(inputs[0])
    )
    views = random_views(("query", "key"), 8, seed=0)
    method.loss(Batch(views))
    assert [torch.equal(images, views["query"]) for images in seen["query"]] == [True]
    (keys,) = seen["key"]
    assert {tuple(row.flatten().tolist()) for row in keys} == {
        tuple(row.flatten().tolist()) for row in views["key"]
    }


def test_keys_come_back_in_the_order_of_their_images() -> None:
    method = build()
    images = random_views(("key",), 8, seed=3)["key"]
    expected = F.normalize(method.key_network(images), dim=1)
    torch.testing.assert_close(method.encode_keys(images), expected)


def test_uint8_views_are_normalized_and_floats_taken_as_they_are() -> None:
    method = SETTINGS.build(PlainEncoder())
    pixels = torch.full((2, 3, 4, 4), 128, dtype=torch.uint8)
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    expected = ((128 / 255 - mean) / std).view(1, 3, 1, 1).expand(2, 3, 4, 4)
    torch.testing.assert_close(method.normalize(pixels), expected)
    floats = torch.randn(2, 3, 4, 4)
    assert method.normalize(floats) is floats


def test_the_key_network_moves_once_an_optimizer_step(monkeypatch: pytest.MonkeyPatch) -> None:
    method = build()
    monkeypatch.setattr(
        method,
        "_trainer",
        SimpleNamespace(accumulate_grad_batches=2, num_training_batches=6, global_step=0),
    )
    with torch.no_grad():
        for parameter in method.query_network.parameters():
            parameter += 1
    moved = []
    for step in range(4):
        before = next(method.key_network.parameters()).clone()
        method.loss(Batch(random_views(("query", "key"), 8, seed=step))).loss.backward()
        method.on_after_backward()
        moved.append(not torch.equal(before, next(method.key_network.parameters())))
    assert moved == [True, False, True, False]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (DeviceBatch(13), "4 does not fit 1 device and 13 images .* nearest: 1$"),
        (DeviceBatch(4), "4 does not fit 1 device and 4 images .* nearest: 2$"),
        (
            DeviceBatch(32, 3),
            "4 does not fit 3 devices and 96 images .* nearest: 3 or 6; on 2 devices it stays 4$",
        ),
        (DeviceBatch(3, 4), None),
        (DeviceBatch(1, 8), "nearest: 1; on 4 devices it stays 4$"),
        (DeviceBatch(16, 8), "nearest: 8; on 4 devices it stays 4$"),
        (DeviceBatch(16, sync_batch_norm=True), "would undo"),
        (DeviceBatch(16), None),
        (DeviceBatch(8, 2), None),
    ],
)
def test_batch_norm_groups_must_fit_the_devices(batch: DeviceBatch, message: str | None) -> None:
    with pytest.raises(UsageError, match=message) if message else nullcontext():
        SETTINGS.check(batch)
    replace(SETTINGS, batch_norm_groups=1).check(batch)


@pytest.mark.parametrize(
    ("groups", "batch", "images"),
    [
        (8, DeviceBatch(128), None),
        (8, DeviceBatch(16, 8), None),
        (8, DeviceBatch(15, 8), 15),
        (8, DeviceBatch(8, 8), 8),
        (16, DeviceBatch(64, 2), 8),
        (1, DeviceBatch(8, 8), 8),
        (1, DeviceBatch(8, 8, sync_batch_norm=True), None),
    ],
)
def test_small_groups_are_warned_of(groups: int, batch: DeviceBatch, images: int | None) -> None:
    found = replace(SETTINGS, batch_norm_groups=groups).warnings(batch)
    assert [f"only {images} images" in warning for warning in found] == [True] * bool(images)


def test_two_queues_do_not_begin_alike() -> None:
    twice = MoCoSettings(hidden=8, dim=5, negatives=(QueueSettings(6), QueueSettings(6)))
    first, second = twice.build(PlainEncoder()).sources
    assert not torch.equal(first.queue.rows, second.queue.rows)
