"""Donors, hosts and controls: rightly decided, of the right classes, the same for every model."""

import numpy as np
import pytest

from unshortcut.measurements.transplant.plan import (
    DONORS,
    FEWEST,
    HOSTS,
    MOST,
    plan_transplants,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Settings


def _labels(classes: int, each: int) -> np.ndarray:
    return np.repeat(np.arange(classes), each)


def test_all_are_decided_rightly_and_of_the_classes_that_they_should_be() -> None:
    labels = _labels(5, 30)
    right = np.random.default_rng(0).random(len(labels)) < 0.7
    plan = plan_transplants(labels, right, Settings())
    giver = plan.donors[plan.donor]
    for rows in (plan.donors, plan.host, plan.own, plan.mate):
        assert right[rows].all()
    assert (labels[plan.host] != labels[giver]).all()
    assert (labels[plan.own] == labels[plan.host]).all() and (plan.own != plan.host).all()
    assert (labels[plan.mate] == labels[giver]).all() and (plan.mate != giver).all()
    np.testing.assert_array_equal(np.bincount(labels[plan.donors]), [MOST] * 5)
    np.testing.assert_array_equal(np.bincount(plan.donor), [HOSTS] * 5 * MOST)


def test_donors_of_a_class_have_the_same_hosts_of_all_other_classes() -> None:
    labels = _labels(4, 20)
    plan = plan_transplants(labels, np.ones(80, bool), Settings())
    for label in range(4):
        sets = {
            tuple(plan.host[plan.donor == at])
            for at in np.flatnonzero(labels[plan.donors] == label)
        }
        assert len(sets) == 1
        counts = np.bincount(labels[list(sets.pop())], minlength=4)
        assert counts[label] == 0 and set(np.delete(counts, label)) == {HOSTS // 3}


def test_a_model_that_errs_elsewhere_has_the_same_donors() -> None:
    labels = _labels(4, 20)
    right = np.ones(80, bool)
    plan = plan_transplants(labels, right, Settings())
    unused = np.setdiff1d(np.arange(80), np.concatenate([plan.donors, plan.host]))
    right[unused[:5]] = False
    other = plan_transplants(labels, right, Settings())
    np.testing.assert_array_equal(plan.donors, other.donors)
    np.testing.assert_array_equal(plan.host, other.host)


def test_of_many_classes_a_random_part_gives_a_few_donors_each() -> None:
    labels = _labels(200, 5)
    plan = plan_transplants(labels, np.ones(1000, bool), Settings())
    counts = np.bincount(labels[plan.donors], minlength=200)
    assert set(counts) == {0, FEWEST} and counts.sum() <= DONORS.standard
    assert (counts[100:] > 0).any() and plan.num_classes == 200
    whole = plan_transplants(labels, np.ones(1000, bool), Settings("full"))
    assert len(whole.donors) == 1000


def test_a_single_image_of_a_class_is_its_own_comparison() -> None:
    plan = plan_transplants(np.array([0, 1]), np.ones(2, bool), Settings())
    np.testing.assert_array_equal(plan.own, plan.host)
    np.testing.assert_array_equal(plan.mate, plan.donors[plan.donor])


def test_one_class_decided_rightly_is_not_enough() -> None:
    with pytest.raises(NotApplicable, match="some of 1 of 3 classes"):
        plan_transplants(np.array([0, 0, 1, 2]), np.array([1, 1, 0, 0], bool), Settings())
