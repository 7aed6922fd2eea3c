"""Training steps built from lightly's modules, following lightly's examples."""

from collections.abc import Callable, Mapping
from copy import deepcopy

from lightly.loss import NTXentLoss
from lightly.models.modules import MoCoProjectionHead, SimCLRProjectionHead
from lightly.models.utils import (
    batch_shuffle,
    batch_unshuffle,
    deactivate_requires_grad,
    update_momentum,
)
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.methods.simclr import SimCLRSettings

Views = Mapping[str, Tensor]
Step = Callable[[int], object]
"""A training step; its argument is ignored."""


def lightly_moco(encoder: nn.Module, settings: MoCoSettings, queue: int, views: Views) -> Step:
    """MoCo with an encoder from images to features (N, 512); widths and queue size are ours."""
    head = MoCoProjectionHead(512, settings.hidden, settings.dim)
    key_encoder, key_head = deepcopy(encoder), deepcopy(head)
    deactivate_requires_grad(key_encoder)
    deactivate_requires_grad(key_head)
    criterion = NTXentLoss(settings.loss.temperature, memory_bank_size=(queue, settings.dim))
    optimizer = _sgd(encoder, head)

    def step(_: int) -> None:
        update_momentum(encoder, key_encoder, m=settings.momentum)
        update_momentum(head, key_head, m=settings.momentum)
        query = head(encoder(views["query"]))
        shuffled, shuffle = batch_shuffle(views["key"])
        key = batch_unshuffle(key_head(key_encoder(shuffled)).detach(), shuffle)
        criterion(query, key).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def lightly_simclr(encoder: nn.Module, settings: SimCLRSettings, views: Views) -> Step:
    """SimCLR with an encoder from images to features (N, 512); widths are ours."""
    head = SimCLRProjectionHead(512, settings.hidden, settings.dim)
    criterion = NTXentLoss(settings.loss.temperature)
    optimizer = _sgd(encoder, head)

    def step(_: int) -> None:
        query, key = (head(encoder(views[name])) for name in ("query", "key"))
        criterion(query, key).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _sgd(*modules: nn.Module) -> Optimizer:
    settings = OptimizerSettings()
    return SGD(
        nn.ModuleList(modules).parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
