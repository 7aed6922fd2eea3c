"""Training linear classifiers as the papers do, on features that may differ in every epoch.

The reported accuracy is that of the last epoch, whereas the papers' code reports the best epoch on
the test set.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from timm.optim import Lars
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.probes.class_subset import Among, accuracy_among, among_name
from unshortcut.probes.matrices import Accuracy, Labeled, checked, top_accuracy
from unshortcut.probes.protocols import Protocol
from unshortcut.progress import OnProgress
from unshortcut.randomness import torch_generator

FeaturesByEpoch = Callable[[int], Labeled]
"""Training features (N, D) and labels (N,) of an epoch; epochs are requested in order."""
Columns = Callable[[int], Tensor]
"""Indices of the columns to use, given the number of all columns."""
Found = dict[str, list[Accuracy]]
"""Accuracies of every seed, by test set."""


def run_protocol(
    protocol: Protocol,
    train: FeaturesByEpoch,
    tests: Mapping[str, Labeled],
    *,
    among: Mapping[str, Among] | None = None,
    seeds: Sequence[int] = (0,),
    classes: int | None = None,
    on_progress: OnProgress | None = None,
) -> Found:
    """Train a classifier per seed; accuracies on every test set after the last epoch, by seed.

    All seeds train on the same features; they differ in the initial weights and in the order of
    the samples. If the batch is larger than the training set, the whole set is one batch, with the
    same learning rate. Test sets in `among` have a second accuracy, over these classes only (see
    `class_subset`). `on_progress(done, epochs)` is called after each epoch.
    """
    (found,) = run_on_columns(
        protocol, train, tests, [None], among=among, seeds=seeds, classes=classes,
        on_progress=on_progress,
    )  # fmt: skip
    return found


def run_on_columns(
    protocol: Protocol,
    train: FeaturesByEpoch,
    tests: Mapping[str, Labeled],
    columns: Sequence[Columns | None],
    *,
    among: Mapping[str, Among] | None = None,
    seeds: Sequence[int] = (0,),
    classes: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[Found]:
    """`run_protocol` for each choice of columns (None: all), which share the features."""
    groups: list[list[_Head]] = []
    held: dict[str, tuple[Tensor, Tensor]] = {}
    for epoch in range(protocol.epochs):
        features, labels = checked(train(epoch), "train", classes)
        classes = int(labels.max()) + 1 if classes is None else classes
        if not groups:
            held = {name: checked(test, name, classes) for name, test in tests.items()}
            chosen = [choose and choose(features.shape[1]) for choose in columns]
            groups = [
                [_Head(protocol, features, one, classes, seed) for seed in seeds] for one in chosen
            ]
        for head in (head for group in groups for head in group):
            head.train(epoch, features.float(), labels)
        if on_progress is not None:
            on_progress(epoch + 1, protocol.epochs)
        if groups[0][0].finished:
            break
    return [_accuracies(group, held, among or {}) for group in groups]


def _accuracies(
    heads: Sequence["_Head"],
    tests: Mapping[str, tuple[Tensor, Tensor]],
    among: Mapping[str, Among],
) -> Found:
    found: Found = {}
    for name, (rows, truth) in tests.items():
        logits = [head.logits(rows.float()) for head in heads]
        found[name] = [top_accuracy(one, truth) for one in logits]
        if name in among:
            own = [accuracy_among(one, truth, among[name]) for one in logits]
            found[among_name(name, among[name])] = own
    return found


class _Head:
    """The classifier of one seed, with its optimizer and its order of samples."""

    def __init__(
        self, protocol: Protocol, like: Tensor, columns: Tensor | None, classes: int, seed: int
    ) -> None:
        self.protocol = protocol
        self.columns = columns
        width = like.shape[1] if columns is None else len(columns)
        self.layers = _layers(protocol, width, classes, seed).to(like.device)
        self.optimizer = _optimizer(protocol, self.layers)
        self.random = torch_generator("linear protocol", "order", seed)
        self.steps = 0

    @property
    def finished(self) -> bool:
        return self.steps == self.protocol.iterations

    def train(self, epoch: int, features: Tensor, labels: Tensor) -> None:
        """Train for one epoch, in a new random order."""
        self.layers.train()
        size = min(self.protocol.batch_size, len(labels))
        order = torch.randperm(len(labels), generator=self.random).to(features.device)
        ragged = len(labels) % size and self.protocol.normalized
        batches = order[: len(labels) - ragged].split(size)
        for number, batch in enumerate(batches):
            if self.finished:
                return
            for group in self.optimizer.param_groups:
                group["lr"] = self.protocol.lr_at(epoch + number / len(batches))
            loss = F.cross_entropy(self.layers(self._chosen(features[batch])), labels[batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps += 1

    @torch.inference_mode()
    def logits(self, features: Tensor) -> Tensor:
        logits: Tensor = self.layers.eval()(self._chosen(features))
        return logits

    def _chosen(self, features: Tensor) -> Tensor:
        return features if self.columns is None else features[:, self.columns]


def _layers(protocol: Protocol, dimensions: int, classes: int, seed: int) -> nn.Sequential:
    linear = nn.Linear(dimensions, classes)
    nn.init.zeros_(linear.bias)
    generator = torch_generator("linear protocol", "init", seed)
    if protocol.init_std is None:
        std = 1 / math.sqrt(dimensions)
        nn.init.trunc_normal_(linear.weight, std=std, a=-2 * std, b=2 * std, generator=generator)
    else:
        nn.init.normal_(linear.weight, std=protocol.init_std, generator=generator)
    norm = nn.BatchNorm1d(dimensions, affine=False, eps=1e-6) if protocol.normalized else None
    return nn.Sequential(norm, linear) if norm else nn.Sequential(linear)


def _optimizer(protocol: Protocol, layers: nn.Sequential) -> torch.optim.Optimizer:
    weight, bias = layers[-1].parameters()
    lr, momentum, decay = protocol.lr_at(0), protocol.momentum, protocol.weight_decay
    if protocol.optimizer == "adam":
        return torch.optim.Adam([weight, bias], lr, weight_decay=decay)
    if protocol.optimizer == "sgd":
        return torch.optim.SGD(
            [weight, bias], lr, momentum, weight_decay=decay, nesterov=protocol.nesterov
        )
    # The bias is not adapted: LARS scales the learning rate by the norm, which starts at 0 there.
    groups = [{"params": [weight], "always_adapt": True}, {"params": [bias]}]
    return Lars(groups, lr=0.0, momentum=momentum, weight_decay=decay)
