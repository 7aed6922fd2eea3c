"""What decides: a head, or a readout of features; and what a model may not answer."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor

from tests.measuring.made import arrays
from unshortcut.errors import RunError, UsageError
from unshortcut.measuring.subjects.classifier import head, readout, run
from unshortcut.models.card import Preprocessing
from unshortcut.models.load import LoadedModel
from unshortcut.probes.features import Features
from unshortcut.probes.knn import knn_votes

PREPROCESSING = Preprocessing(size=8, crop_share=1.0, mean=(0, 0, 0), std=(1, 1, 1))
IMAGES = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), dtype=np.uint8)


def model(features, logits=None, classes=None) -> LoadedModel:  # type: ignore[no-untyped-def]
    return LoadedModel("mine", PREPROCESSING, features, None, logits, classes)


def means(images: Tensor) -> Tensor:
    return images.mean((2, 3))


def test_a_head_gives_the_softmax_of_its_logits_in_double_precision() -> None:
    loaded = model(means, lambda images: 50 * means(images), ("r", "g", "b"))
    classifier = head(loaded, None, "mean")
    seen = run(loaded, classifier, IMAGES)
    logits = 50 * IMAGES.astype(np.float64).mean((1, 2)) / 255
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert seen.native is not None
    np.testing.assert_allclose(seen.native, expected, rtol=1e-4)
    assert classifier.description == "its own head of 3 classes"


def test_features_and_logits_come_from_one_pass_where_a_model_can() -> None:
    passes = []

    def both(images: Tensor) -> tuple[Tensor, Tensor]:
        passes.append(len(images))
        return means(images), means(images)

    def never(images: Tensor) -> Tensor:
        raise AssertionError("a second pass")

    loaded = LoadedModel("mine", PREPROCESSING, never, None, means, ("r", "g", "b"), both=both)
    run(loaded, head(loaded, None, "mean"), IMAGES)
    assert passes == [5]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda images: means(images) * float("nan"), "are not finite"),
        (lambda images: means(images)[:1], r"shape \(1, 3\) for 5 images"),
        (lambda images: means(images)[:, 0], r"shape \(5,\) for 5 images"),
        (lambda images: [1.0], "of the type list"),
    ],
)
def test_what_no_model_may_answer_is_told_in_a_sentence(answer, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(RunError, match=said):
        run(model(answer), None, IMAGES)


def test_a_head_that_names_more_classes_than_it_has_is_told() -> None:
    loaded = model(means, means, ("a", "b"))
    with pytest.raises(RunError, match="names 2 classes, and its logits have 3 columns"):
        head(loaded, None, "mean")


def _labeled(count: int, seed: int) -> tuple[Features, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    values = np.eye(3)[labels] * 2 + random.normal(0, 0.7, (count, 3))
    values = values.astype(np.float32)
    return Features(values, labels, ("x", "y", "z"), np.arange(count)), labels


def test_a_linear_readout_decides_as_its_features_tell() -> None:
    train, _ = _labeled(150, 0)
    test, labels = _labeled(90, 1)
    source = arrays(np.zeros((2, 8, 8, 3), np.uint8))
    classifier = readout("linear", train, source, "mine@train", None, "mean")
    found = classifier.judge(torch.from_numpy(test.values), None)
    assert (found.argmax(1).numpy() == labels).mean() > 0.9
    torch.testing.assert_close(found.sum(1), torch.ones(90, dtype=torch.float64))
    assert "linear probe" in classifier.description
    assert "150 labeled images of mine@train" in classifier.description


def test_votes_of_neighbors_are_those_of_scikit_learn() -> None:
    train, truth = _labeled(60, 0)
    test, _ = _labeled(20, 1)

    def weights(distances):  # type: ignore[no-untyped-def]
        return np.exp((1 - distances) / 0.07)

    theirs = KNeighborsClassifier(5, weights=weights, metric="cosine", algorithm="brute")
    theirs.fit(train.values.astype(np.float64), truth)
    ours = knn_votes(train.values, truth, test.values, k=5, classes=3)
    np.testing.assert_allclose(ours, theirs.predict_proba(test.values), atol=1e-4)


def test_a_readout_of_one_class_is_refused() -> None:
    one = Features(np.ones((4, 2), np.float32), np.zeros(4, np.int64), ("x",), np.arange(4))
    with pytest.raises(UsageError, match="at least two classes"):
        readout("knn", one, arrays(np.zeros((2, 8, 8, 3), np.uint8)), "mine", None, "mean")
