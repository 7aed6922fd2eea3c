"""Segmentation metrics: a case by hand, scikit-learn and torchmetrics."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, jaccard_score
from torchmetrics.classification import MulticlassJaccardIndex

from unshortcut.data.regions import IGNORED
from unshortcut.transfer.metrics.segmentation import ConfusionMatrix

CLASSES = 6


def mask(*rows: list[int]) -> NDArray[np.uint8]:
    return np.array(rows, dtype=np.uint8)


def test_by_hand() -> None:
    """Class 0: 2 of 3 found, union 3; class 1: 1 of 2 found, union 3; class 2 only predicted;
    class 3 in neither."""
    truth = mask([0, 0, 0, IGNORED], [1, 1, IGNORED, IGNORED])
    predicted = mask([0, 0, 1, 2], [1, 2, 0, 1])
    confusion = ConfusionMatrix(4)
    confusion.add(predicted, truth)
    assert confusion.counts.tolist() == [[2, 1, 0, 0], [0, 1, 1, 0], [0] * 4, [0] * 4]
    np.testing.assert_allclose(confusion.iou(), [2 / 3, 1 / 3, 0, np.nan])
    np.testing.assert_allclose(confusion.class_accuracy(), [2 / 3, 1 / 2, np.nan, np.nan])
    assert confusion.mean_iou() == pytest.approx(1 / 3)
    assert confusion.mean_accuracy() == pytest.approx(7 / 12)
    assert confusion.pixel_accuracy() == pytest.approx(3 / 5)


def random_masks(seed: int) -> list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Images of several sizes with some ignored pixels; class 5 is in none of them."""
    rng = np.random.default_rng(seed)
    pairs = []
    for shape in ((5, 7), (9, 4), (1, 30)):
        truth = rng.integers(CLASSES - 1, size=shape).astype(np.uint8)
        wrong = rng.random(shape) < 0.4
        predicted = np.where(wrong, rng.integers(CLASSES - 1, size=shape), truth).astype(np.uint8)
        truth[rng.random(shape) < 0.2] = IGNORED
        pairs.append((predicted, truth))
    return pairs


@pytest.mark.parametrize("seed", [0, 1])
def test_it_equals_scikit_learn_and_torchmetrics_over_all_pixels(seed: int) -> None:
    pairs = random_masks(seed)
    confusion = ConfusionMatrix(CLASSES)
    for predicted, truth in pairs:
        confusion.add(predicted, truth)
    predicted, truth = (np.concatenate([pair[i].ravel() for pair in pairs]) for i in (0, 1))
    peer = MulticlassJaccardIndex(CLASSES, ignore_index=IGNORED)
    peer.update(torch.from_numpy(predicted).long(), torch.from_numpy(truth).long())
    assert confusion.mean_iou() == pytest.approx(float(peer.compute()))
    predicted, truth = predicted[truth != IGNORED], truth[truth != IGNORED]
    each = jaccard_score(truth, predicted, labels=range(CLASSES - 1), average=None)
    np.testing.assert_allclose(confusion.iou()[:-1], each)
    assert confusion.mean_iou() == pytest.approx(each.mean())
    assert confusion.pixel_accuracy() == pytest.approx(accuracy_score(truth, predicted))
    assert confusion.mean_accuracy() == pytest.approx(balanced_accuracy_score(truth, predicted))


def test_images_with_nothing_to_count_have_no_score() -> None:
    confusion = ConfusionMatrix(2)
    confusion.add(mask([0, 1]), mask([IGNORED, IGNORED]))
    assert np.isnan([confusion.mean_iou(), confusion.pixel_accuracy()]).all()


def test_a_mask_of_another_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="mask of"):
        ConfusionMatrix(2).add(mask([0, 1]), mask([0], [1]))
