"""Top-5 accuracy: by hand, beside torchmetrics, and in every kind of probe with many classes."""

import numpy as np
import pytest
import torch
from torchmetrics.functional.classification import multiclass_accuracy

from unshortcut.inference.features import Features
from unshortcut.probes.base import Probe, Score
from unshortcut.probes.kinds.fewshot import FewShotProbe
from unshortcut.probes.kinds.knn import KNNProbe
from unshortcut.probes.kinds.linear import LinearProbe
from unshortcut.probes.knn import knn_top_accuracy, knn_votes
from unshortcut.probes.matrices import Accuracy, in_top, top_accuracy

MANY = 14


def blobs(per_class: int, seed: int, classes: int = MANY) -> Features:
    """Classes that overlap so much that the first guess is often wrong."""
    centers = np.random.default_rng(5).normal(size=(classes, 20))
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(classes), per_class))
    values = centers[labels] + 1.5 * rng.normal(size=(len(labels), 20))
    names = tuple(f"class {label}" for label in range(classes))
    return Features(values.astype(np.float32), labels, names, np.arange(len(labels)))


def test_a_case_by_hand() -> None:
    scores = torch.tensor([[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, *[0.0] * 5]]).repeat(4, 1)
    assert in_top(scores, torch.tensor([0, 4, 5, 10])).tolist() == [True, True, False, False]
    assert top_accuracy(scores, torch.tensor([0, 4, 5, 10])) == Accuracy(0.25, 0.5)
    assert top_accuracy(scores[:, :10], torch.tensor([0, 4, 5, 9])) == Accuracy(0.25, None)


def test_of_equal_scores_the_lower_class_comes_first_as_in_top_1() -> None:
    equal, labels = torch.zeros(11, 11), torch.arange(11)
    assert in_top(equal, labels).tolist() == [True] * 5 + [False] * 6
    assert in_top(equal, labels, k=1).tolist() == (equal.argmax(1) == labels).tolist()


def test_torchmetrics_agrees() -> None:
    scores = torch.randn(400, MANY, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(400) % MANY
    found = top_accuracy(scores, labels)
    for k, ours in ((1, found.top1), (5, found.top5)):
        theirs = multiclass_accuracy(scores, labels, MANY, top_k=k, average="micro")
        assert ours == pytest.approx(float(theirs))


def test_knn_ranks_by_votes_and_a_class_without_votes_is_never_in_the_top() -> None:
    train, test = blobs(6, 0), blobs(8, 1)
    bank, held = (train.values, train.required_labels()), (test.values, test.required_labels())
    votes = knn_votes(*bank, test.values, k=20, classes=MANY)
    labels = torch.from_numpy(held[1])
    found = knn_top_accuracy(*bank, *held, k=20, classes=MANY)
    voted = votes.gather(1, labels[:, None])[:, 0] > 0
    assert found.top1 == pytest.approx(float((votes.argmax(1) == labels).float().mean()))
    assert found.top5 == pytest.approx(float((in_top(votes, labels) & voted).float().mean()))
    one = knn_top_accuracy(*bank, *held, k=1, classes=MANY)
    assert one.top5 == one.top1


@pytest.mark.parametrize(
    "probe", [LinearProbe(seeds=2), KNNProbe(), FewShotProbe(shots=(5,), trials=2)]
)
def test_every_kind_reports_it_for_more_than_ten_classes_only(probe: Probe) -> None:
    for classes, expected in ((MANY, True), (10, False)):
        found = probe.run(blobs(20, 0, classes), {"test": blobs(30, 1, classes)})
        (score,) = found.scores.values()
        (plain,) = (value for key, value in found.to_dict().items() if key.startswith("test"))
        assert ("top5" in plain) == expected == (score.top5 is not None)
        if score.top5 is not None:
            assert score.mean + 5 < score.top5.mean < 100
            assert plain["top5"] == score.top5.mean


def test_a_score_over_seeds_has_a_deviation_and_an_interval_of_both() -> None:
    score = Score.over([Accuracy(0.5, 0.8), Accuracy(0.6, 0.9)], interval=True)
    assert (score.mean, score.std) == (pytest.approx(55), pytest.approx(np.sqrt(50)))
    assert score.top5 is not None
    assert (score.top5.mean, score.top5.std) == (pytest.approx(85), pytest.approx(np.sqrt(50)))
    assert score.top5.interval == pytest.approx(score.interval)
    assert set(score.to_dict()) == {
        "accuracy", "std", "interval", "top5", "top5_std", "top5_interval",
    }  # fmt: skip
