"""Few-shot accuracy beside scikit-learn, a hand-written Adam and SciPy's t interval."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.intervals import t_half_width
from unshortcut.probes import few_shot, linear
from unshortcut.probes.base import PROBES
from unshortcut.probes.few_shot import ADAM, few_shot_accuracy, sample_shots
from unshortcut.probes.kinds.fewshot import FewShotProbe
from unshortcut.randomness import torch_generator, torch_seed

CLASSES = 5
DIMENSIONS = 60


def blobs(per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap, more dimensions than a few shots have rows."""
    centers = np.random.default_rng(5).normal(size=(CLASSES, DIMENSIONS))
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(CLASSES), per_class))
    features = 1 + 0.5 * centers[labels] + rng.normal(size=(len(labels), DIMENSIONS))
    return features.astype(np.float32), labels


TRAIN, TEST = blobs(30, 0), blobs(800, 1)


def features_of(data: tuple[np.ndarray, np.ndarray], names: str = "abcde") -> Features:
    return Features(*data, tuple(names), np.arange(len(data[1])))


@pytest.mark.parametrize("shots", [1, 4, 10])
def test_exact_is_what_scikit_learn_finds_at_the_same_penalty(
    shots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "TOLERANCE", 1e-8)
    result = few_shot_accuracy(TRAIN, {"test": TEST}, [shots], trials=3)[shots]
    for trial, ours in enumerate(result["test"]):
        chosen = sample_shots(torch.tensor(TRAIN[1]), shots, 0, trial).numpy()
        rows, labels = TRAIN[0][chosen].astype(np.float64), TRAIN[1][chosen]
        decay = 0.01 * rows.var(0).sum() / CLASSES
        peer = LogisticRegression(C=1 / (decay * len(labels)), tol=1e-9, max_iter=10_000)
        peer.fit(rows, labels)
        theirs = peer.score(TEST[0].astype(np.float64), TEST[1])
        assert ours == pytest.approx(theirs, abs=0.001)


def adam_by_hand(
    rows: np.ndarray, labels: np.ndarray, rate: float = 0.03, iterations: int = 250
) -> float:
    """Kingma and Ba's algorithm 1 on a linear layer that starts at zero; its test accuracy."""
    x = np.concatenate([rows, np.ones((len(rows), 1))], 1).astype(np.float64)
    weights, first, second = (np.zeros((CLASSES, DIMENSIONS + 1)) for _ in range(3))
    for step in range(1, iterations + 1):
        logits = x @ weights.T
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        gradient = (p - np.eye(CLASSES)[labels]).T @ x / len(x)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        hat = first / (1 - 0.9**step), second / (1 - 0.999**step)
        weights -= rate * hat[0] / (np.sqrt(hat[1]) + 1e-8)
    logits = TEST[0].astype(np.float64) @ weights[:, :-1].T + weights[:, -1]
    return float((logits.argmax(1) == TEST[1]).mean())


def test_adam_is_the_papers_algorithm_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """250 iterations at a rate of 0.03 (LooC, appendix D), and no other numbers."""
    monkeypatch.setattr(few_shot, "ADAM", replace(ADAM, init_std=0.0))
    result = few_shot_accuracy(TRAIN, {"test": TEST}, [5], solver="adam", trials=2)[5]
    for trial, ours in enumerate(result["test"]):
        chosen = sample_shots(torch.tensor(TRAIN[1]), 5, 0, trial).numpy()
        few = TRAIN[0][chosen], TRAIN[1][chosen]
        assert ours == pytest.approx(adam_by_hand(*few), abs=0.0006)
        for others in ({"rate": 0.01}, {"rate": 0.1}, {"iterations": 25}):
            assert abs(ours - adam_by_hand(*few, **others)) > 0.0012


def test_adam_sees_batches_of_256_shots_in_a_new_order_in_every_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A plain transcription: 600 shots are batches of 256, 256 and 88, and 250 of them in all."""
    monkeypatch.setattr(few_shot, "ADAM", replace(ADAM, init_std=0.0))
    pool = blobs(150, 3)
    ours = few_shot_accuracy(pool, {"test": TEST}, [120], solver="adam", trials=1)[120]["test"][0]
    chosen = sample_shots(torch.tensor(pool[1]), 120, 0, 0)
    rows, labels = torch.tensor(pool[0])[chosen], torch.tensor(pool[1])[chosen]
    layer = torch.nn.Linear(DIMENSIONS, CLASSES)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    adam = torch.optim.Adam(layer.parameters(), 0.03)
    order = torch_generator("linear protocol", "order", torch_seed("few-shot", 0, 0))
    sizes: list[int] = []
    while len(sizes) < 250:
        for batch in torch.randperm(600, generator=order).split(256)[: 250 - len(sizes)]:
            adam.zero_grad()
            torch.nn.functional.cross_entropy(layer(rows[batch]), labels[batch]).backward()
            adam.step()
            sizes.append(len(batch))
    assert sizes[:3] == [256, 256, 88] and len(sizes) == 250
    theirs = (layer(torch.tensor(TEST[0])).argmax(1) == torch.tensor(TEST[1])).float().mean()
    assert ours == pytest.approx(float(theirs), abs=1e-6)


def test_a_pool_no_larger_than_the_shots_makes_all_trials_the_same_and_is_warned_of() -> None:
    rows = np.flatnonzero(TRAIN[1] >= 0)
    ten = np.concatenate([rows[TRAIN[1] == label][:10] for label in range(CLASSES)])
    pool, tests = (TRAIN[0][ten], TRAIN[1][ten]), {"test": TEST}
    with pytest.warns(UserWarning, match="all 3 trials of 10 shots use the same images"):
        found = few_shot_accuracy(pool, tests, [5, 10], trials=3)
    assert len({round(value, 3) for value in found[10]["test"]}) == 1
    assert len(set(found[5]["test"])) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few_shot_accuracy(pool, tests, [10], trials=1)
        few_shot_accuracy(TRAIN, tests, [10], trials=2)


def test_shots_are_of_every_class_and_drawn_by_seed_and_trial() -> None:
    labels = torch.tensor(TRAIN[1])
    ten = sample_shots(labels, 10, 0, 0)
    assert torch.bincount(labels[ten]).tolist() == [10] * CLASSES
    assert len(ten.unique()) == 10 * CLASSES
    assert torch.equal(ten, sample_shots(labels, 10, 0, 0))
    five = sample_shots(labels, 5, 0, 0)
    assert set(five.tolist()) < set(ten.tolist())
    assert not torch.equal(ten, sample_shots(labels, 10, 0, 1))
    assert not torch.equal(ten, sample_shots(labels, 10, 1, 0))


def test_only_the_shots_are_learned_from() -> None:
    """Images that no trial drew may hold anything."""
    drawn = torch.cat([sample_shots(torch.tensor(TRAIN[1]), 3, 0, trial) for trial in range(2)])
    others = np.setdiff1d(np.arange(len(TRAIN[1])), drawn.numpy())
    spoilt = TRAIN[0].copy()
    spoilt[others] = 1000.0
    for solver in ("exact", "adam"):
        plain, changed = (
            few_shot_accuracy((rows, TRAIN[1]), {"test": TEST}, [3], solver=solver, trials=2)
            for rows in (TRAIN[0], spoilt)
        )
        assert plain == changed


def test_more_shots_are_better_and_features_of_other_scale_the_same() -> None:
    tests = {"test": TEST}
    few = few_shot_accuracy(TRAIN, tests, [1, 5, 20], trials=4)
    means = [np.mean(few[shots]["test"]) for shots in (1, 5, 20)]
    assert 0.25 < means[0] < means[1] < means[2]
    scaled = few_shot_accuracy(
        (1000 * TRAIN[0], TRAIN[1]), {"test": (1000 * TEST[0], TEST[1])}, [5], trials=4
    )
    assert np.mean(scaled[5]["test"]) == pytest.approx(means[1], abs=0.005)


def test_the_probe_names_every_test_and_number_of_shots() -> None:
    tests = {"test": features_of(TEST), "val": features_of(blobs(50, 2))}
    result = FewShotProbe(shots=(2, 4), trials=3).run(features_of(TRAIN), tests)
    assert list(result.scores) == ["test, 2-shot", "test, 4-shot", "val, 2-shot", "val, 4-shot"]
    accuracies = few_shot_accuracy(TRAIN, {"test": TEST}, [4], trials=3)[4]["test"]
    values = [100 * accuracy for accuracy in accuracies]
    score = result.scores["test, 4-shot"]
    assert score.mean == pytest.approx(np.mean(values))
    assert score.std == pytest.approx(np.std(values, ddof=1))
    assert score.interval == t_half_width(values)
    metrics = result.to_dict()["test, 4-shot"]
    assert metrics == {"accuracy": score.mean, "std": score.std, "interval": score.interval}
    alone = FewShotProbe(shots=(1,), trials=1).run(features_of(TRAIN), tests)
    assert alone.chosen == {} and list(alone.to_dict()["val, 1-shot"]) == ["accuracy"]


def test_what_cannot_be_is_said() -> None:
    rows, labels = TRAIN
    kept = np.concatenate([np.flatnonzero(labels != 2), np.flatnonzero(labels == 2)[:3]])
    few = features_of((rows[kept], labels[kept]))
    tests = {"test": features_of(TEST)}
    with pytest.raises(UsageError, match="class 'c' has 3 training images, fewer than the 5 shots"):
        FewShotProbe(shots=(2, 5)).run(few, tests)
    with pytest.raises(UsageError, match="class 'f' has 0 training images"):
        FewShotProbe(shots=(2,)).run(features_of(TRAIN, "abcdef"), tests)
    for key, value in {"solver": "sgd", "shots": (0,), "trials": 0}.items():
        with pytest.raises(UsageError, match=f"'{key}"):
            PROBES.build({"name": "fewshot", key: value})
