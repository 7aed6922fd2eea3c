"""Batch norm does not leak: no image influences both a query and its key through statistics."""

from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy

import pytest
import timm
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from unshortcut.models import batchnorm
from unshortcut.models.batchnorm import (
    KeyShuffle,
    running_statistics_kept,
    shuffle_order,
    split_batch_norm,
)
from unshortcut.models.encoder import Encoder, EncoderSettings


def influences(groups: int, count: int = 16) -> tuple[torch.Tensor, torch.Tensor]:
    """Which other image moves the embedding of query i, and which that of key i: (N, N) each."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten())
    if groups > 1:
        split_batch_norm(network, groups)
    images = torch.randn(count, 3, 5, 5)

    def embed(batch: torch.Tensor, shuffled: bool) -> torch.Tensor:
        if not shuffled:
            return network(batch)
        shuffle = KeyShuffle(count, groups, torch.Generator().manual_seed(1))
        return shuffle.restore(network(shuffle.shuffle(batch)))

    moved = []
    for shuffled in (False, groups > 1):
        before = embed(images, shuffled)
        matrix = torch.zeros(count, count, dtype=torch.bool)
        for other in range(count):
            changed = images.clone()
            changed[other] += 1 + torch.randn(3, 5, 5)
            matrix[:, other] = (embed(changed, shuffled) - before).abs().amax(1) > 1e-6
        moved.append(matrix & ~torch.eye(count, dtype=torch.bool))
    return moved[0], moved[1]


def test_whole_batch_norm_leaks() -> None:
    query, key = influences(groups=1)
    assert (query & key).sum() == 16 * 15


def test_split_and_dealt_batch_norm_shares_nothing() -> None:
    query, key = influences(groups=4)
    assert query.any(1).all() and key.any(1).all()
    assert not (query & key).any()


@pytest.mark.parametrize(("count", "groups"), [(16, 4), (256, 8), (30, 4), (7, 3), (5, 1)])
def test_dealing_is_a_permutation_that_spreads_groups_evenly(count: int, groups: int) -> None:
    order = shuffle_order(count, groups, torch.Generator().manual_seed(0))
    assert sorted(order.tolist()) == list(range(count))
    if count % (groups * groups) == 0:
        group_of = torch.arange(count) // (count // groups)
        for part in order.chunk(groups):
            sizes = torch.bincount(group_of[part], minlength=groups)
            assert (sizes == count // groups // groups).all()


def test_split_groups_equal_separate_batches_and_eval_is_plain() -> None:
    torch.manual_seed(0)
    plain, other = nn.BatchNorm2d(3), nn.Sequential(nn.BatchNorm2d(3))
    split = split_batch_norm(other, 2)
    x = torch.randn(8, 3, 4, 4)
    expected = torch.cat([F.batch_norm(half, None, None, training=True) for half in x.chunk(2)])
    torch.testing.assert_close(split(x), expected)
    for half in x.chunk(2):
        plain(half)
    torch.testing.assert_close(split[0].running_var, plain.running_var)
    torch.testing.assert_close(split.eval()(x), plain.eval()(x))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_gradients_of_uneven_groups_equal_those_of_separate_batches(
    layout: torch.memory_format,
) -> None:
    torch.manual_seed(0)
    plain = nn.BatchNorm2d(3).double()
    split = split_batch_norm(nn.Sequential(deepcopy(plain)), 3)
    x = torch.randn(8, 3, 4, 4, dtype=torch.float64).contiguous(memory_format=layout)
    toward = torch.randn_like(x)
    whole, parts = x.clone().requires_grad_(), x.clone().requires_grad_()
    (split(whole) * toward).sum().backward()
    for rows in (slice(0, 3), slice(3, 6), slice(6, 8)):
        (plain(parts[rows]) * toward[rows]).sum().backward()
    torch.testing.assert_close(whole.grad, parts.grad)
    for ours, theirs in zip(split.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_state_dict_of_a_split_encoder_loads_into_timm() -> None:
    encoder = Encoder(EncoderSettings(name="resnet18"))
    split_batch_norm(encoder, 8)
    timm.create_model("resnet18", num_classes=0).load_state_dict(encoder.model.state_dict())


def test_a_fused_activation_is_kept() -> None:
    encoder = Encoder(EncoderSettings(name="mobilenetv3_small_050"))
    x = torch.randn(4, 3, 32, 32)
    before = encoder.eval()(x)
    torch.testing.assert_close(split_batch_norm(encoder, 2).eval()(x), before)


@pytest.mark.parametrize("world", [1, 2, 4])
def test_the_order_of_keys_does_not_depend_on_how_many_ranks_share_the_groups(
    world: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batchnorm, "world_size", lambda: world)

    def order(groups: int) -> list[int]:
        generator = torch.Generator().manual_seed(0)
        return KeyShuffle(32 // world, groups, generator).order.tolist()

    def expected(groups: int) -> list[int]:
        return shuffle_order(32, groups, torch.Generator().manual_seed(0)).tolist()

    assert order(4) == expected(4)
    assert order(8) == expected(8)
    assert order(1) == expected(world)  # a rank cannot be divided into less than one group


def test_running_statistics_are_kept_whatever_the_batch_holds() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.BatchNorm2d(3), nn.BatchNorm2d(3, momentum=None))
    split = split_batch_norm(deepcopy(network), 2)
    x = torch.randn(8, 3, 4, 4)
    network(x)
    for kept in (network, split):
        before = deepcopy(kept.state_dict())
        with running_statistics_kept(kept):
            torch.testing.assert_close(kept(x), deepcopy(kept)(x))
            kept(torch.full_like(x, float("inf")))
        for name, tensor in kept.state_dict().items():
            assert torch.equal(tensor, before[name]), name
        kept(x)
        assert not torch.equal(kept[0].running_mean, before["0.running_mean"])


def test_a_pass_can_be_recomputed_without_updating_running_statistics() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    plain = deepcopy(network)
    x = torch.randn(4, 3, 5, 5, requires_grad=True)

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), running_statistics_kept(network)

    checkpoint(network, x, use_reentrant=False, context_fn=contexts).square().sum().backward()
    plain(x).square().sum().backward()
    for (name, ours), theirs in zip(network.named_buffers(), plain.buffers(), strict=True):
        assert torch.equal(ours, theirs), name
    for ours, theirs in zip(network.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)
