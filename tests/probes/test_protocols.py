"""The papers' protocols: their numbers, their schedules, and one run beside plain torch."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.probes.protocol_training import run_protocol
from unshortcut.probes.protocols import (
    BYOL,
    LOOC,
    LOOC_INAT,
    MAE,
    MOCO,
    NSN,
    PROTOCOLS,
    Protocol,
    protocol_named,
)

DIMENSIONS = 12
CENTERS = 1.5 * np.random.default_rng(5).normal(size=(4, DIMENSIONS))


def blobs(count: int, seed: int):
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(CENTERS), size=count)
    features = CENTERS[labels] + 2 * rng.normal(size=(count, DIMENSIONS))
    return torch.tensor(features, dtype=torch.float32), torch.tensor(labels)


def accuracies(protocol: Protocol, train, tests, seed: int = 0) -> dict[str, float]:
    """Top-1 accuracies of one seed; the features are the same in every epoch."""
    found = run_protocol(protocol, lambda epoch: train, tests, seeds=[seed])
    return {name: values[0].top1 for name, values in found.items()}


@pytest.mark.parametrize(
    ("protocol", "rates"),
    [
        (MOCO, {0: 30, 59: 30, 60: 3, 79: 3, 80: 0.3, 99: 0.3}),
        (NSN, {0: 10, 29: 10, 30: 1, 39: 1, 40: 0.1, 49: 0.1, 50: 0.01, 59: 0.01}),
        (LOOC, {0: 30, 119: 30, 120: 3, 159: 3, 160: 0.3, 199: 0.3}),
        (LOOC_INAT, {0: 30, 59: 30, 60: 3, 79: 3, 80: 0.3, 99: 0.3}),
        (BYOL, {0: 0.8, 20: 0.4 * (1 + math.sqrt(0.5)), 40: 0.4, 80: 0}),
        (MAE, {0: 0, 5: 3.2, 10: 6.4, 50: 3.2, 70: 3.2 * (1 + math.cos(0.75 * math.pi)), 90: 0}),
    ],
)
def test_the_learning_rate_at_exact_epochs(protocol, rates):
    assert {epoch: pytest.approx(rate) for epoch, rate in rates.items()} == {
        epoch: protocol.lr_at(epoch) for epoch in rates
    }


def test_maes_rate_is_stated_for_256_samples():
    assert replace(MAE, batch_size=256).lr_at(10) == pytest.approx(0.1)


def test_the_numbers_of_mae():
    assert (MAE.batch_size, MAE.epochs, MAE.warmup_epochs) == (16384, 90, 10)
    assert (MAE.optimizer, MAE.momentum, MAE.weight_decay) == ("lars", 0.9, 0)
    assert MAE.normalized and MAE.init_std == 0.01


@pytest.mark.parametrize(
    ("protocol", "batch_size", "epochs"),
    [(MOCO, 256, 100), (NSN, 128, 60), (LOOC, 256, 200), (LOOC_INAT, 256, 100), (BYOL, 1024, 80)],
)
def test_the_numbers_of_the_papers(protocol, batch_size, epochs):
    assert (protocol.batch_size, protocol.epochs) == (batch_size, epochs)
    assert (protocol.weight_decay, protocol.momentum) == (0, 0.9)
    assert protocol.nesterov == (protocol is BYOL) and protocol.optimizer == "sgd"


@pytest.mark.parametrize("nesterov", [False, True])
def test_a_run_equals_torchs_own_sgd_and_scheduler(nesterov):
    """Full batches leave no order of samples to agree on, a zero start no initial weights."""
    train, test = blobs(100, 0), blobs(500, 1)
    protocol = replace(
        MOCO, lr=0.3, batch_size=100, epochs=12, drops=(6, 9), nesterov=nesterov, init_std=0.0
    )
    ours = accuracies(protocol, train, {"test": test, "train": train})

    head = nn.Linear(DIMENSIONS, 4)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimizer = torch.optim.SGD(head.parameters(), 0.3, momentum=0.9, nesterov=nesterov)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [6, 9])
    for _ in range(12):
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(train[0]), train[1]).backward()
        optimizer.step()
        schedule.step()
    for name, (features, labels) in {"test": test, "train": train}.items():
        theirs = float((head(features).argmax(1) == labels).double().mean())
        assert ours[name] == pytest.approx(theirs, abs=0.011)


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_every_protocol_learns(name):
    progress, train = [], blobs(330, 0)
    result = run_protocol(
        protocol_named(name),
        lambda epoch: train,
        {"test": blobs(400, 1)},
        on_progress=lambda done, total: progress.append((done, total)),
    )
    assert result["test"][0].top1 > 0.6 and result["test"][0].top5 is None
    epochs = protocol_named(name).epochs
    assert progress == [(epoch + 1, epochs) for epoch in range(epochs)]


def test_seeds_together_are_the_seeds_alone():
    train, tests = blobs(200, 0), {"test": blobs(2000, 1)}
    protocol = replace(MOCO, lr=3, epochs=3, drops=(2,))
    alone = [accuracies(protocol, train, tests, seed)["test"] for seed in (0, 1)]
    together = run_protocol(protocol, lambda epoch: train, tests, seeds=(0, 1))["test"]
    assert [one.top1 for one in together] == alone
    assert alone[0] != alone[1]


def test_an_epoch_uses_its_own_features():
    """Epoch 0 looks like the next class, epoch 1 like its own."""
    features, labels = blobs(400, 0)
    wrong = torch.tensor(CENTERS, dtype=torch.float32)[(labels + 1) % 4]
    protocol = replace(NSN, lr=0.05, momentum=0.0, epochs=2, drops=(2,))

    def trained_on(*epochs) -> float:
        found = run_protocol(
            replace(protocol, epochs=len(epochs)),
            lambda epoch: (epochs[epoch], labels),
            {"test": blobs(500, 1)},
        )
        return found["test"][0].top1

    assert trained_on(wrong) < 0.3
    assert trained_on(features) > 0.5
    assert trained_on(wrong) < trained_on(wrong, features)


def test_maes_batch_norm_makes_the_scale_of_the_features_irrelevant():
    (features, labels), (rows, truth) = blobs(330, 0), blobs(400, 1)
    scale = 10.0 ** torch.linspace(-2, 2, DIMENSIONS)
    plain = accuracies(MAE, (features, labels), {"test": (rows, truth)})
    scaled = accuracies(MAE, (features * scale, labels), {"test": (rows * scale, truth)})
    assert scaled["test"] == pytest.approx(plain["test"], abs=0.02)


def test_an_unknown_name_gives_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'moco'"):
        protocol_named("moko")
