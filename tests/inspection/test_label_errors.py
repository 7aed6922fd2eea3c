"""Wrong labels: the counts of a case by hand, and labels that were changed are found."""

import numpy as np
import pytest

from unshortcut.inspection.label_errors import confident_joint, find_label_errors

LABELS = np.array([0, 0, 0, 1, 1, 1])
PROBABILITIES = np.array(
    [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8], [0.45, 0.55], [0.85, 0.15]]
)
REFERENCE = [
    [343, 6, 5, 10, 10],
    [5, 324, 11, 11, 8],
    [13, 5, 326, 8, 10],
    [8, 11, 15, 337, 9],
    [17, 6, 19, 12, 395],
]


def test_the_confident_joint_of_a_case_by_hand() -> None:
    """Means of the own class: (0.9 + 0.8 + 0.1) / 3 = 0.6 and (0.8 + 0.55 + 0.15) / 3 = 0.5."""
    joint = confident_joint(PROBABILITIES, LABELS)
    assert joint.assigned.tolist() == [0, 0, 1, 1, 1, 0]
    assert joint.counts.tolist() == [[2, 1], [1, 2]]
    assert joint.estimated_errors(LABELS) == 2


def test_an_image_that_no_class_is_possible_for_does_not_count() -> None:
    probabilities = PROBABILITIES.copy()
    probabilities[4] = [0.52, 0.48]
    joint = confident_joint(probabilities, LABELS)
    assert joint.assigned[4] == 1, "above the mean of its class, (0.8 + 0.48 + 0.15) / 3"
    probabilities[4] = [0.59, 0.41]
    probabilities[5] = [0.1, 0.9]
    assert confident_joint(probabilities, LABELS).assigned[4] == -1


def test_counts_are_those_of_cleanlab() -> None:
    """`compute_confident_joint` of cleanlab 2.9.0, calibrate=False, and its estimate of errors."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 5, 3000)
    labels = np.where(random.random(3000) < 0.1, random.integers(0, 5, 3000), truth)
    scores = random.normal(size=(3000, 5))
    scores[np.arange(3000), truth] += 2.5
    probabilities = np.exp(scores)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    joint = confident_joint(probabilities, labels)
    assert joint.counts.tolist() == REFERENCE
    assert abs(joint.estimated_errors(labels) - 309) <= 1, "cleanlab rounds to whole images"


def test_changed_labels_are_found() -> None:
    random = np.random.default_rng(0)
    truth = np.arange(300) % 3
    features = (random.normal(size=(300, 8)) + 4 * np.eye(8)[truth]).astype(np.float32)
    labels = truth.copy()
    wrong = random.choice(300, 15, replace=False)
    labels[wrong] = (truth[wrong] + 1) % 3
    found = find_label_errors(features, labels)
    caught = np.intersect1d(found.numbers, wrong)
    assert len(caught) >= 13 and len(found.numbers) - len(caught) <= 2
    right = np.isin(found.numbers, wrong)
    assert (found.suggested[right] == truth[found.numbers[right]]).all()
    assert (np.diff(found.margins) <= 0).all() and abs(found.estimated - 15) < 6
    clean = find_label_errors(features, truth)
    assert len(clean.numbers) <= 2


def test_copies_share_a_fold_and_cannot_confirm_each_other() -> None:
    """A wrong label and its exact copy: if the probe is fitted on one, the other seems right."""
    random = np.random.default_rng(1)
    truth = np.arange(60) % 2
    features = random.normal(size=(60, 400)).astype(np.float32)
    features[:, 0] += np.where(truth, 6, -6)
    labels = np.append(truth, 1)
    labels[0] = 1
    features = np.concatenate([features, features[:1]])
    apart = find_label_errors(features, labels, seed=0).probabilities[0, 1]
    together = find_label_errors(features, labels, [[0, 60]], seed=0).probabilities[0, 1]
    assert together < apart


def test_what_a_probe_knows_is_measured_from_the_largest_class() -> None:
    random = np.random.default_rng(2)
    labels = np.arange(400) % 4 // 3  # three quarters are of the first class
    found = find_label_errors(random.normal(size=(400, 4)).astype(np.float32), labels)
    assert found.chance == 0.75 and found.knowledge < 0.1, "noise knows nothing"
    features = np.stack([labels * 20.0, random.normal(size=400)], 1).astype(np.float32)
    found = find_label_errors(features, labels)
    assert found.accuracy == 1
    # by hand: Wilson's interval of 400 of 400 ends at n / (n + z²), with z = 1.96
    assert found.knowledge == pytest.approx((400 / (400 + 1.96**2) - 0.75) / 0.25, abs=1e-4)
