"""Test sets with fewer classes than the training data."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.images import write_tree
from tests.measuring.made import arrays, subject_of
from unshortcut.data.relabeled import Relabeled
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.probes.class_subset import accuracy_among, marked, with_training_labels
from unshortcut.probes.kinds.knn import KNNProbe
from unshortcut.probes.kinds.linear import LinearProbe
from unshortcut.probes.prepare import prepare_probe

TRAIN = ("n01558993", "n04099969", "ant")
PIXELS = np.zeros((3, 4, 4, 3), np.uint8)


def test_labels_are_those_of_the_training_data() -> None:
    test = arrays(PIXELS, [0, 1, 1], ["ant", "n01558993"])
    found = with_training_labels(test, TRAIN, "test")
    assert found.classes == TRAIN
    assert found.labels is not None and found.labels.tolist() == [2, 0, 0]
    assert found.fingerprint() != test.fingerprint()


def test_classes_with_wordnet_ids_in_their_names_are_matched_by_these() -> None:
    test = arrays(PIXELS, [0, 1, 0], ["chair (n02791124 n04099969)", "robin (n01558993)"])
    found = with_training_labels(test, TRAIN, "objectnet")
    assert found.labels is not None and found.labels.tolist() == [1, 0, 1]


def test_the_same_classes_are_the_same_source() -> None:
    test = arrays(PIXELS, [0, 1, 2], TRAIN)
    assert with_training_labels(test, TRAIN, "test") is test


def test_unknown_classes_are_named_with_a_way_out() -> None:
    test = arrays(PIXELS, [0, 1, 2], ["ant", "bee", "fly"])
    with pytest.raises(UsageError, match=r"'test' has other classes .* bee, fly; .* no others$"):
        with_training_labels(test, TRAIN, "test")
    test = arrays(PIXELS, [0, 1, 2], ["ant", "n02791124", "n02791270"])
    with pytest.raises(UsageError, match="imagenet100:DATA"):
        with_training_labels(test, TRAIN, "test")


def test_a_class_that_is_several_training_classes_is_an_error() -> None:
    test = arrays(PIXELS, [0, 0, 0], ["both (n01558993 n04099969)"])
    with pytest.raises(UsageError, match="several classes of the training data"):
        with_training_labels(test, TRAIN, "test")


def features(values: list[list[float]], labels: list[int], classes: tuple[str, ...]) -> Features:
    rows = np.array(values, np.float32)
    return Features(rows, np.array(labels), classes, np.arange(len(rows)))


def three_directions() -> Features:
    random = np.random.default_rng(0)
    values = np.eye(3)[np.repeat([0, 1, 2], 10)] + random.normal(0, 0.05, (30, 3))
    return features(values.tolist(), np.repeat([0, 1, 2], 10).tolist(), ("a", "b", "c"))


@pytest.mark.parametrize("probe", [LinearProbe(seeds=2), LinearProbe(1, "nsn"), KNNProbe(k=(3,))])
def test_a_subset_has_an_accuracy_among_all_classes_and_one_among_its_own(probe: object) -> None:
    """The second image of class a looks most like c, and then like a: wrong only if c may be."""
    test = features(
        [[1, 0, 0], [0.7, 0.0, 1.0], [0, 1, 0], [0, 1, 0]], [0, 0, 1, 1], ("a", "b", "c")
    )
    source = Relabeled(arrays(np.zeros((4, 4, 4, 3), np.uint8), [0, 0, 1, 1], "ab"), "abc", [0, 1])
    train_source = arrays(PIXELS, [0, 1, 2], "abc")
    own = marked(test, source, train_source)
    assert own.among is not None and own.among.tolist() == [0, 1]
    result = probe.run(three_directions(), {"r": own})  # type: ignore[attr-defined]
    found = {name: score.mean for name, score in result.scores.items()}
    assert found == {"r": 75.0, "r, among its 2 classes": 100.0}


def test_a_test_set_with_all_classes_has_one_accuracy() -> None:
    source = arrays(np.zeros((4, 4, 4, 3), np.uint8), [0, 0, 1, 1], "abc")
    test = features([[1, 0, 0]] * 4, [0, 0, 1, 1], ("a", "b", "c"))
    assert marked(test, source, source) is test
    assert list(LinearProbe(1).run(three_directions(), {"r": test}).scores) == ["r"]


def test_logits_decide_among_the_classes_that_are_left() -> None:
    logits = torch.tensor([[1.0, 5.0, 3.0], [0.0, -2.0, -3.0]])
    found = accuracy_among(logits, torch.tensor([2, 2]), np.array([0, 2]))
    assert (found.top1, found.top5) == (0.5, None)


def test_top_5_is_reported_if_the_subset_has_many_classes() -> None:
    """Of 24 classes the even-numbered 12 are left, 5 of which are ahead of class 10."""
    logits = torch.zeros(1, 24)
    logits[0, :10] = torch.arange(10, 0, -1.0)
    left = np.arange(0, 24, 2)
    assert accuracy_among(logits, torch.tensor([8]), left).top5 == 1.0
    assert accuracy_among(logits, torch.tensor([10]), left).top5 == 0.0
    assert accuracy_among(logits, torch.tensor([8]), left[:10]).top5 is None


def test_the_probe_takes_folders_with_fewer_classes(tmp_path: Path) -> None:
    write_tree(tmp_path / "train", [f"{one}/{i}.png" for one in "abc" for i in range(3)])
    write_tree(tmp_path / "r", [f"{one}/{i}.png" for one in "bc" for i in range(2)])
    model = subject_of(lambda images: images.mean((2, 3)), arrays(PIXELS)).model
    data, test = str(tmp_path / "train"), str(tmp_path / "r")
    prepared = prepare_probe(model, data, tests=[test])
    assert prepared.label_problem is None
    labels = prepared.tests["r"].labels
    assert labels is not None and labels.tolist() == [1, 1, 2, 2]
    result = KNNProbe(k=(1,)).measure(prepared.extract, prepared.train, prepared.tests)
    assert list(result.scores) == ["r", "r, among its 2 classes"]
    with pytest.raises(UsageError, match="other classes than the training data: a;"):
        prepare_probe(model, test, tests=[data])
