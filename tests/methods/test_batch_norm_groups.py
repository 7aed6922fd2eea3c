"""Batch-norm groups over all devices: any number of ranks computes what the papers' GPUs did."""

from copy import deepcopy
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.ranks import on_ranks
from tests.small import NormedEncoder, random_views
from tests.two_ranks import LR, STEPS, run_steps
from unshortcut.methods.densecl import DenseCLSettings
from unshortcut.methods.infomin import InfoMinSettings
from unshortcut.methods.looc import LooCSettings
from unshortcut.methods.method import MethodSettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.models.batchnorm import shuffle_order
from unshortcut.negatives.other_keys import OtherKeysSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.randomness import torch_generator

BATCH, GPUS = 16, 4
MOCO = MoCoSettings(
    hidden=8,
    dim=5,
    momentum=0.9,
    head_batch_norm=True,
    negatives=(QueueSettings(24),),
    batch_norm_groups=GPUS,
)


@dataclass
class Reference:
    """What a few steps of MoCo on `GPUS` GPUs compute."""

    losses: list[Tensor]
    gradients: list[list[Tensor]]
    queue: Tensor
    statistics: dict[int, list[dict[str, Tensor]]]
    """Running statistics of the query network by number of ranks, one dict per rank."""


@pytest.fixture(scope="module")
def reference() -> Reference:
    """MoCo with plain batch norm on each GPU's part, and keys shuffled between GPUs."""
    torch.manual_seed(0)
    method = replace(MOCO, batch_norm_groups=1).build(NormedEncoder()).double()
    query_net, key_net = method.query_network, method.key_network.network
    queue = method.sources[0].queue.rows.clone()
    # A rank's statistics have seen the parts of its own GPUs only, one after the other.
    seen = {world: [deepcopy(query_net) for _ in range(world)] for world in (1, 2, 4)}
    losses, gradients = [], []
    for step in range(STEPS):
        views = random_views(("query", "key"), BATCH, seed=step)
        for world, copies in seen.items():
            for copy, part in zip(copies, views["query"].chunk(world), strict=True):
                for own, now in zip(copy.parameters(), query_net.parameters(), strict=True):
                    own.data.copy_(now)
                for gpu in part.chunk(GPUS // world):
                    copy(gpu)

        query = F.normalize(torch.cat([query_net(gpu) for gpu in views["query"].chunk(GPUS)]))
        with torch.no_grad():
            for slow, fast in zip(key_net.parameters(), query_net.parameters(), strict=True):
                slow.copy_(0.9 * slow + 0.1 * fast)
            order = shuffle_order(BATCH, GPUS, torch_generator(0, step, "deal"))
            key = torch.empty(BATCH, MOCO.dim, dtype=torch.float64)
            key[order] = torch.cat([key_net(gpu) for gpu in views["key"][order].chunk(GPUS)])
            key = F.normalize(key)
        logits = torch.cat([(query * key).sum(1, keepdim=True), query @ queue.T], 1) / 0.2
        loss = F.cross_entropy(logits, torch.zeros(BATCH, dtype=torch.long))
        query_net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in query_net.parameters():
                parameter -= LR * parameter.grad
        gradients.append([parameter.grad.clone() for parameter in query_net.parameters()])
        losses.append(loss.detach())
        queue = torch.cat([queue, key])[BATCH:]  # the oldest rows first
    statistics = {
        world: [dict(copy.named_buffers()) for copy in copies] for world, copies in seen.items()
    }
    return Reference(losses, gradients, queue, statistics)


@pytest.mark.parametrize("world", [1, 2, 4])
def test_ranks_compute_what_so_many_gpus_compute_as_there_are_groups(
    world: int, reference: Reference
) -> None:
    ranks = on_ranks(world, run_steps, MOCO, BATCH, NormedEncoder)
    for step in range(STEPS):
        losses = torch.stack([trace.losses[step] for trace in ranks])
        close(losses.mean(), reference.losses[step])
        for trace in ranks:
            found = list(trace.gradients[step].values())
            for ours, theirs in zip(found, reference.gradients[step], strict=True):
                close(ours, theirs)
    for trace, statistics in zip(ranks, reference.statistics[world], strict=True):
        rows, pointer = trace.buffers["sources.0.queue.rows"], STEPS * BATCH % 24
        close(rows.roll(-pointer, 0), reference.queue)
        for name, expected in statistics.items():
            number, _, rest = name.partition(".")
            found = trace.buffers[f"{('encoder', 'head')[int(number)]}.{rest}"]
            # `SplitBatchNorm` counts passes, a GPU its own.
            if not name.endswith("num_batches_tracked"):
                close(found, expected)


def test_one_group_is_one_on_each_device() -> None:
    whole = on_ranks(2, run_steps, replace(MOCO, batch_norm_groups=1), BATCH, NormedEncoder)
    halves = run_steps(0, 1, replace(MOCO, batch_norm_groups=2), BATCH, NormedEncoder)
    for step in range(STEPS):
        losses = torch.stack([trace.losses[step] for trace in whole])
        close(losses.mean(), halves.losses[step])


@pytest.mark.parametrize(
    "settings",
    [
        replace(MOCO, negatives=(QueueSettings(24), PatchSettings(count=2))),
        InfoMinSettings(
            hidden=8, dim=5, head_batch_norm=True, negatives=MOCO.negatives, batch_norm_groups=GPUS
        ),
        DenseCLSettings(
            hidden=8,
            dim=5,
            head_batch_norm=True,
            negatives=(QueueSettings(24), PatchSettings()),
            dense_negatives=(QueueSettings(24), PatchSettings()),
            batch_norm_groups=GPUS,
        ),
        LooCSettings(
            hidden=8,
            dim=5,
            head_batch_norm=True,
            negatives=(QueueSettings(24), OtherKeysSettings()),
            batch_norm_groups=GPUS,
        ),
    ],
    ids=["moco, patch", "infomin", "densecl", "looc"],
)
def test_two_ranks_share_the_groups_of_every_method(settings: MethodSettings) -> None:
    alone = run_steps(0, 1, settings, BATCH, NormedEncoder)
    both = on_ranks(2, run_steps, settings, BATCH, NormedEncoder)
    for step in range(STEPS):
        close(torch.stack([trace.losses[step] for trace in both]).mean(), alone.losses[step])
        for name, expected in alone.gradients[step].items():
            close(both[0].gradients[step][name], expected)


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)
