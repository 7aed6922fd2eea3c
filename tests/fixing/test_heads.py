"""Heads against scikit-learn, sums by hand, and a cue that is known."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

from unshortcut.fixing.balanced import balanced_rows, fit_balanced
from unshortcut.fixing.reweighted import error_weights, fit_reweighted
from unshortcut.fixing.steady import fit_steady
from unshortcut.measuring.class_components import class_components, without_components
from unshortcut.measuring.linear_head import Doubles, Head, Indices, Scaling

RNG = np.random.default_rng(0)


def blobs(count: int = 400, classes: int = 3, width: int = 5) -> tuple[Doubles, Indices]:
    """Classes that overlap, in features of different scales."""
    labels = np.arange(count) % classes
    centers = RNG.normal(size=(classes, width))
    scales = np.linspace(0.2, 5, width)
    return (centers[labels] + RNG.normal(size=(count, width))) * scales + 3, labels


def cue_and_core(count: int, agree: float) -> tuple[Doubles, Indices, Indices]:
    """Two classes with a weak core feature and a strong cue that usually agrees with the class."""
    rng = np.random.default_rng(count)
    labels = np.arange(count) % 2
    cue = np.where(rng.random(count) < agree, labels, 1 - labels)
    core = (2 * labels - 1) * 1.0 + rng.normal(size=count) * 0.7
    features = np.stack([core, (2 * cue - 1) * 1.5 + rng.normal(size=count) * 0.2], axis=1)
    return features, labels, 2 * labels + cue


def test_a_head_is_a_linear_layer() -> None:
    layer = nn.Linear(4, 3).double()
    features = torch.randn(7, 4, dtype=torch.double)
    head = Head.of(layer)
    np.testing.assert_allclose(head.logits(features.numpy()), layer(features).detach())
    np.testing.assert_allclose(
        head.layer()(features.float()).detach(), head.logits(features.numpy()), rtol=1e-4, atol=1e-5
    )
    probabilities = layer(features).softmax(dim=1).detach()
    np.testing.assert_allclose(head.probabilities(features.numpy()), probabilities)


def test_scaling_moves_between_heads_and_back() -> None:
    features, _ = blobs()
    scaling, head = Scaling.of(features), Head(RNG.normal(size=(3, 5)), RNG.normal(size=3))
    there = scaling.onto_scaled(head)
    np.testing.assert_allclose(there.logits(scaling.scaled(features)), head.logits(features))
    np.testing.assert_allclose(scaling.onto_plain(there).weight, head.weight)


def test_a_constant_feature_does_no_harm() -> None:
    features, labels = blobs()
    features[:, 2] = 7.0
    head = fit_balanced(features, labels, labels, num_classes=3, strength=1.0, draws=1)
    assert np.isfinite(head.weight).all() and np.isfinite(head.bias).all()


def test_balanced_rows_have_as_many_of_each_group_as_the_smallest() -> None:
    groups = np.array([0] * 50 + [1] * 7 + [2] * 30)
    rows = balanced_rows(groups, seed=0, draw=0)
    assert np.bincount(groups[rows]).tolist() == [7, 7, 7]
    assert not np.array_equal(rows, balanced_rows(groups, seed=0, draw=1))
    assert np.array_equal(rows, balanced_rows(groups, seed=0, draw=0))


@pytest.mark.parametrize("classes", [2, 3])
def test_one_balanced_draw_is_scikit_learns_fit(classes: int) -> None:
    features, labels = blobs(300, classes)
    ours = fit_balanced(features, labels, labels, num_classes=classes, strength=0.3, draws=1)
    rows = Scaling.of(features).scaled(features)
    theirs = LogisticRegression(C=0.3, l1_ratio=1.0, solver="saga", tol=1e-6, max_iter=5000)
    theirs.fit(rows, labels)
    np.testing.assert_allclose(ours.probabilities(features), theirs.predict_proba(rows), atol=2e-3)


def test_a_balanced_head_does_not_go_by_the_cue() -> None:
    features, labels, groups = cue_and_core(600, agree=0.95)
    plain = LogisticRegression(C=100).fit(features, labels)
    fixed = fit_balanced(features, labels, groups, num_classes=2, strength=0.3)
    test, truth, _ = cue_and_core(2000, agree=0.0)  # the cue is always wrong
    assert (plain.predict(test) == truth).mean() < 0.6
    assert (fixed.predict(test) == truth).mean() > 0.85


def test_a_class_without_images_never_wins() -> None:
    features, labels = blobs(300, 2)
    head = fit_balanced(features, labels, labels, num_classes=4, strength=0.3, draws=2)
    assert set(head.predict(features)) <= {0, 1}


def test_weights_of_errors_are_balanced_by_class_and_have_the_stated_ratio() -> None:
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.1, 0.9]])
    labels = np.array([0, 0, 1, 1])
    weights = error_weights(probabilities, labels, gamma=4.0)
    assert weights[:2].sum() == pytest.approx(0.5) and weights.sum() == pytest.approx(1)
    assert weights[1] / weights[0] == pytest.approx(np.exp(-4 * (0.2 - 0.9)))


def test_without_errors_to_emphasize_it_is_scikit_learns_weighted_ridge() -> None:
    """With a first head of zeros and γ = 0, the pull is a plain L2 penalty."""
    features, labels = blobs(300)
    features = Scaling.of(features).scaled(features)
    zeros, pull = Head(np.zeros((3, 5)), np.zeros(3)), 0.05
    ours = fit_reweighted(features, labels, zeros, gamma=0.0, pull=pull)
    theirs = LogisticRegression(C=1 / (2 * pull), tol=1e-10, max_iter=5000)
    theirs.fit(features, labels, error_weights(np.ones((300, 3)) / 3, labels, 0.0))
    np.testing.assert_allclose(ours.weight, theirs.coef_, atol=1e-3)
    centered = ours.bias - ours.bias.mean()
    np.testing.assert_allclose(centered, theirs.intercept_ - theirs.intercept_.mean(), atol=1e-3)


def test_a_strong_pull_keeps_the_first_head_and_errors_move_it() -> None:
    features, labels, _ = cue_and_core(600, agree=0.9)
    by_cue = Head(np.array([[0.0, -3.0], [0.0, 3.0]]), np.zeros(2))
    kept = fit_reweighted(features, labels, by_cue, gamma=10.0, pull=1e6)
    np.testing.assert_allclose(kept.weight, by_cue.weight, atol=1e-3)
    moved = fit_reweighted(features, labels, by_cue, gamma=10.0, pull=1e-3)
    test, truth, _ = cue_and_core(2000, agree=0.0)
    assert (by_cue.predict(test) == truth).mean() < 0.05
    assert (moved.predict(test) == truth).mean() > 0.8


def test_the_objective_with_a_cue_is_that_of_autograd() -> None:
    """The same sum, image by image in torch, has no gradient at the solution."""
    without, labels = blobs(90)
    with_cue = without + RNG.normal(size=without.shape) + np.array([0, 4.0, 0, 1, 0])
    first, pull, steady = Head(RNG.normal(size=(3, 5)), RNG.normal(size=3)), 0.02, 0.3
    found = fit_steady(without, with_cue, labels, first, pull=pull, steady=steady)
    scaling = Scaling.of(without)
    rows, cued = (torch.from_numpy(scaling.scaled(one)) for one in (without, with_cue))
    origin, solved = scaling.onto_scaled(first), scaling.onto_scaled(found)
    weight = torch.from_numpy(solved.weight).requires_grad_()
    bias = torch.from_numpy(solved.bias).requires_grad_()
    loss = pull * ((weight - torch.from_numpy(origin.weight)) ** 2).sum()
    for row, other, label in zip(rows, cued, labels.tolist(), strict=True):
        logits, moved = weight @ row + bias, weight @ other + bias
        loss = loss - logits.log_softmax(0)[label] / 90
        change = moved - logits
        loss = loss + steady * ((change - change.mean()) ** 2).sum() / 90
    loss.backward()
    assert weight.grad is not None and bias.grad is not None
    assert weight.grad.abs().max() < 1e-4 and bias.grad.abs().max() < 1e-4


def test_a_steady_head_decides_the_same_with_the_cue_and_is_right_without_it() -> None:
    core, labels, _ = cue_and_core(600, agree=0.5)
    without = core * [1.0, 0.0]
    with_cue = without + np.array([0.3, 2.0])
    by_cue = Head(np.array([[-1.0, -3.0], [1.0, 3.0]]), np.zeros(2))
    assert (by_cue.predict(with_cue) == 1).mean() > 0.99
    head = fit_steady(without, with_cue, labels, by_cue, pull=0.003, steady=1.0)
    assert (head.predict(without) == labels).mean() > 0.85
    assert (head.predict(with_cue) == labels).mean() > 0.85
    loose = fit_steady(without, with_cue, labels, by_cue, pull=0.003, steady=0.0)
    assert (loose.predict(with_cue) == labels).mean() < 0.6


def test_components_share_out_the_logit() -> None:
    features, labels = blobs(200)
    head = Head(RNG.normal(size=(3, 5)), RNG.normal(size=3))
    own = features[labels == 1]
    found = class_components(own, head, 1, count=5)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(5), atol=1e-10)
    logits = found.shares(features, head).sum(axis=1) + found.mean.sum() + head.bias[1]
    np.testing.assert_allclose(logits, head.logits(features)[:, 1])


def test_a_component_is_subtracted_from_its_class_alone() -> None:
    features, labels = blobs(200)
    head = Head(RNG.normal(size=(3, 5)), RNG.normal(size=3))
    found = class_components(features[labels == 2], head, 2, count=4)
    fixed = without_components(head, [(found, 0), (found, 3)])
    expected = head.logits(features)
    expected[:, 2] -= found.shares(features, head)[:, [0, 3]].sum(axis=1)
    np.testing.assert_allclose(fixed.logits(features), expected)
