"""The linear probe beside scikit-learn, SciPy and the papers' SGD, and what it must not see."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from unshortcut.errors import RunError, UsageError
from unshortcut.probes import linear
from unshortcut.probes.holdout import stratified_holdout
from unshortcut.probes.linear import Setting, fit_linear, linear_accuracy
from unshortcut.probes.protocol_training import run_protocol
from unshortcut.probes.protocols import MOCO

GRID = {"lrs": (0.01, 0.1, 1.0), "weight_decays": (0.0, 1e-3)}
ONE = {"lrs": (0.1,), "weight_decays": (0.0,)}


def blobs(count: int, seed: int, classes: int = 6, dimensions: int = 40, noise: float = 1.6):
    """Classes that overlap, on axes of very different scale, away from the origin."""
    centers = np.random.default_rng(5).normal(size=(classes, dimensions)) / 2
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=count)
    features = centers[labels] + noise * rng.normal(size=(count, dimensions))
    features = 3 + features * np.geomspace(0.05, 1, dimensions)
    return features.astype(np.float32), labels


def penalized_loss(probe, features, labels, penalty):
    logits = probe.logits(torch.tensor(features)).double()
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels))
    return float(loss + 0.5 * penalty * probe.weight.double().square().sum())


def test_the_fit_is_the_minimum_that_scikit_learn_finds(monkeypatch):
    monkeypatch.setattr(linear, "INIT_STD", 0.0)
    monkeypatch.setattr(linear, "TOLERANCE", 1e-6)
    features, labels = blobs(600, 0)
    rows, _ = blobs(1000, 1)
    setting = Setting(0.5, 1e-3)
    penalty = sum(setting.penalties(len(labels)))
    (probe,) = fit_linear(features, labels, lrs=[0.5], weight_decays=[1e-3], seeds=[0])
    peer = LogisticRegression(C=1 / (penalty * len(labels)), tol=1e-8, max_iter=10_000)
    peer.fit(features - features.mean(0), labels)
    weight = torch.tensor(peer.coef_ - peer.coef_.mean(0))
    ours = probe.weight.double() - probe.weight.double().mean(0)
    assert (ours - weight).norm() < 0.02 * weight.norm()
    agreement = probe.predict(torch.tensor(rows)).numpy() == peer.predict(rows - features.mean(0))
    assert agreement.mean() > 0.995


def test_the_penalty_pulls_to_the_start_as_scipy_confirms(monkeypatch):
    """With a tiny learning rate the classifier stays near the N(0, 0.01) that the seed drew."""
    monkeypatch.setattr(linear, "TOLERANCE", 1e-7)
    features, labels = blobs(80, 0, classes=3, dimensions=5)
    wide = {"lrs": [1e-9], "weight_decays": [0.0]}
    start, other = fit_linear(features, labels, seeds=[0, 1], **wide)
    assert 0.005 < float(start.weight.std()) < 0.02
    assert not torch.equal(start.weight, other.weight)

    setting = Setting(0.01, 0.02)
    to_start, to_zero = setting.penalties(len(labels))
    (probe,) = fit_linear(features, labels, lrs=[0.01], weight_decays=[0.02], seeds=[0])
    center = start.weight.double().numpy()
    rows, one_hot = features.astype(np.float64), np.eye(3)[labels]

    def loss(flat):
        weight, bias = flat[:15].reshape(3, 5), flat[15:]
        logits = rows @ weight.T + bias
        log_sum = np.logaddexp.reduce(logits, axis=1)
        loss = (log_sum - (logits * one_hot).sum(1)).mean()
        return (
            loss + to_zero / 2 * (weight**2).sum() + to_start / 2 * ((weight - center) ** 2).sum()
        )

    best = minimize(loss, np.zeros(18), method="BFGS", options={"gtol": 1e-7})
    assert probe.weight.flatten().numpy() == pytest.approx(best.x[:15], abs=2e-3)


def test_a_setting_gives_what_the_papers_sgd_gives():
    """Each learning rate and decay alone, not only the best: that is what the mapping claims.

    Near the origin, that is: far from it SGD is slowed down by the common mean, the probe is not.
    """
    train, test = blobs(1500, 0), blobs(4000, 1)
    train[0][:] -= 3
    test[0][:] -= 3
    for rate, decay in [(0.01, 0.0), (0.1, 0.0), (1.0, 0.0), (0.1, 0.01), (0.1, 0.1)]:
        protocol = replace(MOCO, lr=rate, weight_decay=decay)
        (theirs,) = run_protocol(protocol, lambda epoch: train, {"test": test})["test"]
        ours = linear_accuracy(
            train, {"test": test}, lrs=[rate], weight_decays=[decay], seeds=[0]
        ).mean("test")
        assert ours == pytest.approx(theirs.top1, abs=0.01), (rate, decay)


def test_the_test_set_has_no_say_in_the_choice():
    train, (rows, truth) = blobs(300, 0), blobs(200, 1)
    tests = {"right": (rows, truth), "permuted": (rows, np.roll(truth, 1) // 2)}
    alone = [linear_accuracy(train, {name: test}, **GRID) for name, test in tests.items()]
    assert alone[0].mean("right") > alone[1].mean("permuted")
    for a, b in zip(alone[0].classifiers, alone[1].classifiers, strict=True):
        assert (a.setting, dict(a.holdout)) == (b.setting, dict(b.holdout))
        assert torch.equal(a.weight, b.weight)


def test_a_seed_chooses_the_best_of_the_grid_on_its_own_held_out_part():
    features, labels = blobs(400, 0)
    probes = fit_linear(features, labels, seeds=(3, 4), **GRID)
    for probe in probes:
        held = stratified_holdout(torch.tensor(labels), 0.2, probe.seed).numpy()
        assert set(probe.holdout) == {Setting(r, d) for r in (0.01, 0.1, 1.0) for d in (0, 1e-3)}
        assert probe.holdout[probe.setting] == max(probe.holdout.values())
        for setting, score in probe.holdout.items():
            result = linear_accuracy(
                (features[~held], labels[~held]),
                {"held": (features[held], labels[held])},
                lrs=[setting.lr],
                weight_decays=[setting.weight_decay],
                seeds=[probe.seed],
            )
            assert result.mean("held") == pytest.approx(score, abs=0.03)


def test_the_final_fit_sees_all_of_train():
    """Two points of a class of its own: one is held out, and the probe must know both."""
    features, labels = blobs(200, 0, classes=3)
    features[:2], labels[:2] = 3, 3
    features[0, :20], features[1, 20:] = 60, -60
    for probe in fit_linear(features, labels, seeds=range(4), **GRID):
        assert probe.predict(torch.tensor(features[:2])).tolist() == [3, 3]


def test_mean_and_deviation_are_over_seeds():
    result = linear_accuracy(blobs(200, 0), {"test": blobs(500, 1)}, seeds=range(5), **GRID)
    values = result.accuracies["test"]
    assert len(values) == 5
    assert len(set(values)) > 1
    assert result.mean("test") == pytest.approx(np.mean(values))
    assert result.std("test") == pytest.approx(np.std(values, ddof=1))
    assert result.chosen == statistics.mode(one.setting for one in result.classifiers)
    single = linear_accuracy(blobs(200, 0), {"test": blobs(500, 1)}, seeds=[0], **GRID)
    assert single.std("test") == 0
    assert single.accuracies["test"][0] == pytest.approx(values[0], abs=0.004)


def test_accuracy_per_class():
    (rows, truth) = blobs(500, 1)
    rows, truth = rows[truth != 2], truth[truth != 2]
    result = linear_accuracy(blobs(300, 0), {"test": (rows, truth)}, seeds=[0], **ONE)
    right = result.classifiers[0].predict(torch.tensor(rows)).numpy() == truth
    expected = [right[truth == c].mean() if c != 2 else np.nan for c in range(6)]
    assert result.per_class["test"] == pytest.approx(expected, nan_ok=True)


def test_the_same_seed_gives_the_same_weights():
    features, labels = blobs(200, 0)
    first, second = (fit_linear(features, labels, seeds=[7], **GRID)[0] for _ in range(2))
    assert torch.equal(first.weight, second.weight)
    assert torch.equal(first.bias, second.bias)


def test_seeds_in_groups_give_what_they_give_together(monkeypatch):
    features, labels = blobs(300, 0)
    together = fit_linear(features, labels, **GRID)
    monkeypatch.setattr(linear, "MAX_WEIGHTS", 1)
    for a, b in zip(together, fit_linear(features, labels, **GRID), strict=True):
        assert (a.seed, a.setting) == (b.seed, b.setting)
        assert a.weight.numpy() == pytest.approx(b.weight.numpy(), abs=0.02)


def test_chunks_of_rows_give_what_all_rows_give(monkeypatch):
    features, labels = blobs(300, 0)
    (whole,) = fit_linear(features, labels, seeds=[0], **ONE)
    monkeypatch.setattr("unshortcut.probes.solver.CHUNK", 6 * 17)
    monkeypatch.setattr("unshortcut.probes.solver.ROWS", 7)
    (chunked,) = fit_linear(features, labels, seeds=[0], **ONE)
    assert chunked.weight.numpy() == pytest.approx(whole.weight.numpy(), abs=1e-3)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_default_grid_follows_the_scale_of_the_features(scale):
    (features, labels), (rows, truth) = blobs(500, 0), blobs(1000, 1)
    plain = linear_accuracy((features, labels), {"test": (rows, truth)})
    scaled = linear_accuracy((features * scale, labels), {"test": (rows * scale, truth)})
    assert plain.mean("test") > 0.4
    assert scaled.mean("test") == pytest.approx(plain.mean("test"), abs=0.02)


def test_degenerate_features_are_no_obstacle():
    (features, labels), (rows, truth) = blobs(400, 0), blobs(800, 1)
    plain = linear_accuracy((features, labels), {"test": (rows, truth)}).mean("test")

    def score(change):
        train, test = (change(features), labels), (change(rows), truth)
        return linear_accuracy(train, {"test": test}).mean("test")

    assert score(lambda x: np.hstack([x, x, x])) == pytest.approx(plain, abs=0.03)
    assert score(lambda x: np.hstack([x, np.full_like(x, 1e3)])) == pytest.approx(plain, abs=0.03)
    assert score(lambda x: x.astype(np.float16)) == pytest.approx(plain, abs=0.03)
    assert score(lambda x: x[:, :1] * 0 + 2) < 0.3, "constant features tell nothing, and no error"


def test_fewer_samples_than_dimensions():
    (features, labels), test = (
        blobs(60, 0, dimensions=300, noise=0.8),
        blobs(500, 1, dimensions=300, noise=0.8),
    )
    assert linear_accuracy((features, labels), {"test": test}).mean("test") > 0.8


def test_two_classes_and_many():
    two = linear_accuracy(blobs(300, 0, classes=2), {"test": blobs(500, 1, classes=2)})
    assert two.mean("test") > 0.8
    many, test = blobs(900, 0, classes=300, noise=0.1), blobs(600, 1, classes=300, noise=0.1)
    result = linear_accuracy(many, {"test": test}, classes=300, seeds=[0])
    assert result.mean("test") > 0.5


def test_the_holdout_is_a_part_of_every_class_that_can_spare_one():
    labels = torch.tensor([0] * 50 + [1] * 5 + [2] * 2 + [4])
    held = stratified_holdout(labels, 0.2, seed=0)
    assert torch.bincount(labels[held], minlength=5).tolist() == [10, 1, 1, 0, 0]
    assert not torch.equal(held, stratified_holdout(labels, 0.2, seed=1))
    assert torch.equal(held, stratified_holdout(labels, 0.2, seed=0))


def test_one_sample_a_class_needs_a_single_setting():
    features = np.eye(4, dtype=np.float32)
    with pytest.raises(UsageError, match="give one learning rate and one weight decay"):
        fit_linear(features, np.arange(4), **GRID)
    (probe,) = fit_linear(features, np.arange(4), seeds=[0], **ONE)
    assert probe.predict(torch.tensor(features)).tolist() == [0, 1, 2, 3]


def test_broken_input_is_named():
    features, labels = blobs(50, 0)
    broken = features.copy()
    broken[[4, 9], 3] = np.inf
    with pytest.raises(RunError, match=r"train features are NaN or infinite in 2 of 50.*row 4"):
        fit_linear(broken, labels)
    with pytest.raises(RunError, match="sketch features are NaN"):
        linear_accuracy((features, labels), {"sketch": (broken, labels)})
    with pytest.raises(UsageError, match="labels go from 0 to 5; allowed: 0 to 2"):
        fit_linear(features, labels, classes=3)
    with pytest.raises(UsageError, match="learning rates must be above 0"):
        fit_linear(features, labels, lrs=[0.0])
    with pytest.raises(UsageError, match="different numbers"):
        fit_linear(features, labels, seeds=[1, 1])
    with pytest.raises(UsageError, match="40 dimensions, the test set's 8"):
        linear_accuracy((features, labels), {"test": (features[:, :8], labels)})


def test_at_a_rate_of_infinity_the_decay_alone_counts(monkeypatch):
    """Trained to convergence, seeds that start elsewhere end at scikit-learn's minimum."""
    monkeypatch.setattr(linear, "TOLERANCE", 1e-8)
    features, labels = blobs(200, 0)
    peer = LogisticRegression(C=1 / (0.01 * len(labels)), tol=1e-9, max_iter=10_000)
    peer.fit(features - features.mean(0), labels)
    weight = torch.tensor(peer.coef_ - peer.coef_.mean(0))
    for probe in fit_linear(features, labels, lrs=[math.inf], weight_decays=[0.01], seeds=[0, 1]):
        ours = probe.weight.double() - probe.weight.double().mean(0)
        assert (ours - weight).norm() < 0.01 * weight.norm()
    with pytest.raises(UsageError, match="without a weight decay the learning rate must be finite"):
        fit_linear(features, labels, lrs=[math.inf], weight_decays=[0.0, 0.01])
