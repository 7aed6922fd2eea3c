"""The linear evaluation protocols of the papers, run on cached features.

The papers augment each image anew in every epoch. Cached features of one view per image are the
same in every epoch; with V augmented copies per image, (N, V, D), epoch e uses copy e mod V. The
reported accuracy is that of the last epoch, whereas the papers' code reports the best epoch on the
test set.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from timm.optim import Lars
from torch import nn
from torch.nn import functional as F

from unshortcut.errors import unknown
from unshortcut.probes.class_subset import among_name, masked
from unshortcut.probes.matrices import Labeled, accuracy, checked
from unshortcut.randomness import torch_generator

INIT_STD = 0.01
"""Standard deviation of the initial weights, the same in all papers."""


@dataclass(frozen=True)
class Protocol:
    """How a paper trains its linear classifier; weights start at N(0, 0.01^2), the bias at 0."""

    name: str
    lr: float
    batch_size: int
    epochs: int
    drops: tuple[int, ...] = ()
    """Epochs at which the learning rate is divided by 10; if empty, it follows a cosine to 0."""
    warmup_epochs: int = 0
    """Epochs over which the learning rate rises linearly from 0, updated in every step."""
    momentum: float = 0.9
    weight_decay: float = 0.0
    per_256: bool = False
    """Whether `lr` is stated for a batch of 256 and scales with the batch size."""
    optimizer: Literal["sgd", "lars", "adam"] = "sgd"
    """LARS adapts the weight only, as in MAE; Adam ignores `momentum`."""
    normalized: bool = False
    """Whether batch norm without affine parameters precedes the classifier; incomplete last batches
    are then dropped."""

    def lr_at(self, epoch: float) -> float:
        """The learning rate at a fractional epoch."""
        peak = self.lr * (self.batch_size / 256 if self.per_256 else 1)
        if epoch < self.warmup_epochs:
            return peak * epoch / self.warmup_epochs
        if self.drops:
            return peak * 0.1 ** sum(epoch >= drop for drop in self.drops)
        progress = (epoch - self.warmup_epochs) / (self.epochs - self.warmup_epochs)
        return peak * 0.5 * (1 + math.cos(math.pi * progress))


MOCO = Protocol("moco", lr=30, batch_size=256, epochs=100, drops=(60, 80))
NSN = Protocol("nsn", lr=10, batch_size=128, epochs=60, drops=(30, 40, 50))
LOOC = Protocol("looc", lr=30, batch_size=256, epochs=200, drops=(120, 160))
MAE = Protocol(
    "mae", lr=0.1, per_256=True, batch_size=16384, epochs=90, warmup_epochs=10, optimizer="lars",
    normalized=True,
)  # fmt: skip
PROTOCOLS = {protocol.name: protocol for protocol in (MOCO, NSN, LOOC, MAE)}


def protocol_named(name: str) -> Protocol:
    """Look up a protocol; an unknown name is a `UsageError` that suggests the nearest."""
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


def run_protocol(
    protocol: Protocol,
    train: Labeled,
    tests: Mapping[str, Labeled],
    *,
    seed: int = 0,
    classes: int | None = None,
    among: Mapping[str, NDArray[np.int64]] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> dict[str, float]:
    """Train a classifier and return its accuracy (0 to 1) on every test set after the last epoch.

    Training features are (N, D), or (N, V, D) for V augmented copies of each image. If the batch is
    larger than the training set, the whole set is one batch, with the same learning rate.
    Test sets in `among` have a second accuracy, over these classes only (see `class_subset`).
    `on_progress(done, epochs)` is called after each epoch.
    """
    features, labels = checked(train, "train", classes, copies=True)
    copies = features.float() if features.ndim == 3 else features.float()[:, None]
    classes = int(labels.max()) + 1 if classes is None else classes
    held = {name: checked(test, name, classes) for name, test in tests.items()}

    head = _head(protocol, copies.shape[-1], classes, seed).to(features.device)
    optimizer = _optimizer(protocol, head)
    batch_size = min(protocol.batch_size, len(labels))
    generator = torch_generator("linear protocol", "order", seed)
    head.train()
    for epoch in range(protocol.epochs):
        copy = copies[:, epoch % copies.shape[1]]
        batches = torch.randperm(len(labels), generator=generator).to(features.device)
        ragged = len(labels) % batch_size and protocol.normalized
        steps = batches[: len(labels) - ragged].split(batch_size)
        for step, batch in enumerate(steps):
            for group in optimizer.param_groups:
                group["lr"] = protocol.lr_at(epoch + step / len(steps))
            loss = F.cross_entropy(head(copy[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if on_progress is not None:
            on_progress(epoch + 1, protocol.epochs)

    head.eval()
    with torch.inference_mode():
        scores = {}
        for name, (rows, truth) in held.items():
            logits = head(rows.float())
            scores[name] = accuracy(logits.argmax(1), truth)
            if among and name in among:
                decided = masked(logits, among[name]).argmax(1)
                scores[among_name(name, among[name])] = accuracy(decided, truth)
    return scores


def _head(protocol: Protocol, dimensions: int, classes: int, seed: int) -> nn.Sequential:
    linear = nn.Linear(dimensions, classes)
    nn.init.zeros_(linear.bias)
    generator = torch_generator("linear protocol", "init", seed)
    nn.init.normal_(linear.weight, std=INIT_STD, generator=generator)
    norm = nn.BatchNorm1d(dimensions, affine=False, eps=1e-6) if protocol.normalized else None
    return nn.Sequential(norm, linear) if norm else nn.Sequential(linear)


def _optimizer(protocol: Protocol, head: nn.Sequential) -> torch.optim.Optimizer:
    weight, bias = head[-1].parameters()
    momentum, decay = protocol.momentum, protocol.weight_decay
    if protocol.optimizer == "adam":
        return torch.optim.Adam([weight, bias], protocol.lr_at(0), weight_decay=decay)
    if protocol.optimizer == "sgd":
        return torch.optim.SGD([weight, bias], protocol.lr_at(0), momentum, weight_decay=decay)
    # The bias is not adapted: LARS scales the learning rate by the norm, which starts at 0 there.
    groups = [{"params": [weight], "always_adapt": True}, {"params": [bias]}]
    return Lars(groups, lr=0.0, momentum=momentum, weight_decay=decay)
