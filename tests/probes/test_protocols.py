"""The papers' protocols: their numbers, their schedules, and one run beside plain torch."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.probes import protocols
from unshortcut.probes.protocols import (
    LOOC,
    MAE,
    MOCO,
    NSN,
    PROTOCOLS,
    protocol_named,
    run_protocol,
)

DIMENSIONS = 12
CENTERS = 1.5 * np.random.default_rng(5).normal(size=(4, DIMENSIONS))


def blobs(count: int, seed: int):
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(CENTERS), size=count)
    features = CENTERS[labels] + 2 * rng.normal(size=(count, DIMENSIONS))
    return torch.tensor(features, dtype=torch.float32), torch.tensor(labels)


@pytest.mark.parametrize(
    ("protocol", "rates"),
    [
        (MOCO, {0: 30, 59: 30, 60: 3, 79: 3, 80: 0.3, 99: 0.3}),
        (NSN, {0: 10, 29: 10, 30: 1, 39: 1, 40: 0.1, 49: 0.1, 50: 0.01, 59: 0.01}),
        (LOOC, {0: 30, 119: 30, 120: 3, 159: 3, 160: 0.3, 199: 0.3}),
        (MAE, {0: 0, 5: 3.2, 10: 6.4, 50: 3.2, 70: 3.2 * (1 + math.cos(0.75 * math.pi)), 90: 0}),
    ],
)
def test_the_learning_rate_at_exact_epochs(protocol, rates):
    assert {epoch: pytest.approx(rate) for epoch, rate in rates.items()} == {
        epoch: protocol.lr_at(epoch) for epoch in rates
    }


def test_maes_rate_is_stated_for_256_samples():
    assert replace(MAE, batch_size=256).lr_at(10) == pytest.approx(0.1)


def test_a_run_equals_torchs_own_sgd_and_scheduler(monkeypatch):
    """Full batches leave no order of samples to agree on, a zero start no initial weights."""
    monkeypatch.setattr(protocols, "INIT_STD", 0.0)
    train, test = blobs(100, 0), blobs(500, 1)
    protocol = replace(MOCO, lr=0.3, batch_size=100, epochs=12, drops=(6, 9))
    ours = run_protocol(protocol, train, {"test": test, "train": train}, seed=0)

    head = nn.Linear(DIMENSIONS, 4)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimizer = torch.optim.SGD(head.parameters(), 0.3, momentum=0.9)
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
    progress = []
    result = run_protocol(
        protocol_named(name),
        blobs(330, 0),
        {"test": blobs(400, 1)},
        on_progress=lambda done, total: progress.append((done, total)),
    )
    assert result["test"] > 0.6
    epochs = protocol_named(name).epochs
    assert progress == [(epoch + 1, epochs) for epoch in range(epochs)]


def test_a_seed_gives_the_same_run_and_another_seed_another():
    train, tests = blobs(200, 0), {"test": blobs(2000, 1)}
    protocol = replace(MOCO, lr=3, epochs=3, drops=(2,))
    runs = [run_protocol(protocol, train, tests, seed=seed) for seed in (0, 0, 1)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_an_epoch_uses_its_own_augmented_copy():
    """Copy 0 looks like the next class, copy 1 like its own; epoch e sees copy e mod 2."""
    features, labels = blobs(400, 0)
    wrong = torch.tensor(CENTERS, dtype=torch.float32)[(labels + 1) % 4]
    copies = torch.stack([wrong, features], dim=1)
    protocol = replace(NSN, lr=0.05, momentum=0.0, epochs=1, drops=(1,))
    tests = {"test": blobs(500, 1)}
    assert run_protocol(protocol, (copies, labels), tests)["test"] < 0.3
    assert run_protocol(protocol, (copies.flip(1), labels), tests)["test"] > 0.5
    both = run_protocol(replace(protocol, epochs=2, drops=(2,)), (copies, labels), tests)["test"]
    assert run_protocol(protocol, (copies, labels), tests)["test"] < both


def test_maes_batch_norm_makes_the_scale_of_the_features_irrelevant():
    (features, labels), (rows, truth) = blobs(330, 0), blobs(400, 1)
    scale = 10.0 ** torch.linspace(-2, 2, DIMENSIONS)
    plain = run_protocol(MAE, (features, labels), {"test": (rows, truth)})
    scaled = run_protocol(MAE, (features * scale, labels), {"test": (rows * scale, truth)})
    assert scaled["test"] == pytest.approx(plain["test"], abs=0.02)


def test_an_unknown_name_gives_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'moco'"):
        protocol_named("moko")
