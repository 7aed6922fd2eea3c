"""The kNN probe against a naive loop and scikit-learn."""

import math

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier

from unshortcut.errors import RunError, UsageError
from unshortcut.probes import knn
from unshortcut.probes.knn import choose_k, knn_accuracy, knn_predict


def blobs(count: int, classes: int = 5, dimensions: int = 16, seed: int = 0):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).normal(size=(classes, dimensions))
    labels = rng.integers(classes, size=count)
    features = centers[labels] + 1.2 * rng.normal(size=(count, dimensions))
    return features.astype(np.float32), labels


def naive(bank, labels, queries, k, temperature):
    predictions = []
    for query in queries.tolist():
        scored = []
        for row, label in zip(bank.tolist(), labels.tolist(), strict=True):
            dot = sum(a * b for a, b in zip(query, row, strict=True))
            scored.append((dot / (math.hypot(*query) * math.hypot(*row)), label))
        votes: dict[int, float] = {}
        for similarity, label in sorted(scored, reverse=True)[:k]:
            votes[label] = votes.get(label, 0.0) + math.exp(similarity / temperature)
        predictions.append(max(votes, key=votes.__getitem__))
    return predictions


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks smaller than the data, so that merging is exercised."""
    monkeypatch.setattr(knn, "QUERIES", 7)
    monkeypatch.setattr(knn, "BANK", 13)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("temperature", [0.07, 0.5])
def test_predictions_equal_a_naive_loop_for_every_k(temperature):
    bank, labels = blobs(60)
    queries, _ = blobs(25, seed=1)
    predictions = knn_predict(bank, labels, queries, k=(1, 4, 20, 60), temperature=temperature)
    for k, predicted in predictions.items():
        assert predicted.tolist() == naive(bank, labels, queries, k, temperature)


@pytest.mark.parametrize("weighted", [True, False])
def test_accuracy_equals_scikit_learns(weighted):
    bank, labels = blobs(400)
    queries, truth = blobs(200, seed=1)
    ours = knn_accuracy(bank, labels, queries, truth, k=(1, 5, 20), weighted=weighted)
    for k, value in ours.items():
        weights = (lambda distance: np.exp((1 - distance) / 0.07)) if weighted else "uniform"
        peer = KNeighborsClassifier(k, weights=weights, metric="cosine", algorithm="brute")
        assert value == pytest.approx(peer.fit(bank, labels).score(queries, truth), abs=1e-9)


def test_k_above_the_bank_counts_the_whole_bank():
    bank, labels = blobs(30)
    queries, truth = blobs(20, seed=1)
    result = knn_accuracy(bank, labels, queries, truth, k=(30, 1000))
    assert result[1000] == result[30]


@pytest.mark.usefixtures("small_blocks")
def test_k_is_chosen_by_classifying_each_training_sample_with_the_others():
    features, labels = blobs(40)
    best, scores = choose_k(features, labels, k=(1, 3, 9))
    for k, score in scores.items():
        right = 0
        for i in range(len(labels)):
            others = np.arange(len(labels)) != i
            predicted = naive(features[others], labels[others], features[i : i + 1], k, 0.07)
            right += predicted[0] == labels[i]
        assert score == pytest.approx(right / len(labels))
    assert scores[best] == max(scores.values())
    assert scores[1] < 1, "a sample that finds itself is always right"


def test_a_scale_of_the_features_changes_nothing_and_half_precision_little():
    bank, labels = blobs(300)
    queries, truth = blobs(300, seed=1)
    plain = knn_accuracy(bank, labels, queries, truth, k=(5,))[5]
    assert knn_accuracy(1e4 * bank, labels, 1e-4 * queries, truth, k=(5,))[5] == plain
    half = knn_accuracy(
        bank.astype(np.float16), labels, torch.tensor(queries).half(), truth, k=(5,)
    )[5]
    assert half == pytest.approx(plain, abs=0.02)


def test_a_very_low_temperature_follows_the_nearest_neighbor():
    bank, labels = blobs(100)
    queries, _ = blobs(50, seed=1)
    predictions = knn_predict(bank, labels, queries, k=(1, 50), temperature=1e-4)
    assert predictions[1].tolist() == predictions[50].tolist()


def test_broken_input_is_named():
    bank, labels = blobs(20)
    broken = bank.copy()
    broken[3, 2] = np.nan
    with pytest.raises(RunError, match=r"test features are NaN or infinite in 1 of 20 rows.*row 3"):
        knn_predict(bank, labels, broken)
    with pytest.raises(UsageError, match="16 dimensions, the test features 8"):
        knn_predict(bank, labels, bank[:, :8])
    with pytest.raises(UsageError, match="at least 1"):
        knn_predict(bank, labels, bank, k=(0,))
    with pytest.raises(UsageError, match="20 feature rows"):
        knn_predict(bank, labels[:-1], bank)
