"""Weighted logistic regression that stays near a first head, on scaled features.

    Σ weight · cross-entropy + pull · |w - w_first|² + steady · mean |change of the logits|²

The features have mean 0 and variance 1, so that a pull means the same for every one of them; the
bias is free, because a class that a cue stood for needs another one without it. The last term is
there if it is known how something that should not matter changes the features; what adds the same
to all logits changes no decision and does not count.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from unshortcut.measuring.linear_head import Doubles, Head, Indices, Scaling

_ITERATIONS = 500


def fit_pulled(
    features: Doubles,
    labels: Indices,
    weights: Doubles,
    first: Head,
    *,
    pull: float,
    changes: Doubles | None = None,
    steady: float = 0.0,
) -> Head:
    """The head that minimizes the objective.

    Args:
        features: (N, D)
        labels: (N,)
        weights: (N,), with sum 1.
        first: the head that it starts from.
        pull: weight of the squared distance from the first head.
        changes: (M, D), changes of features that should leave the logits as they are.
        steady: weight of what they do to the logits.
    """
    scaling = Scaling.of(features)
    rows, start = scaling.scaled(features), scaling.onto_scaled(first)
    origin = np.concatenate([start.weight, start.bias[:, None]], axis=1)  # (C, D + 1)
    with_one = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    target = np.eye(len(origin))[labels]
    moved = np.zeros((1, features.shape[1])) if changes is None else changes / scaling.scale
    spread = moved.T @ moved / len(moved)  # (D, D)

    def objective(flat: Doubles) -> tuple[float, Doubles]:
        values = flat.reshape(origin.shape)
        logs = log_softmax(with_one @ values.T, axis=1)
        apart = values - origin
        apart[:, -1] = 0  # the bias
        relative = values[:, :-1] - values[:, :-1].mean(axis=0)  # (C, D)
        shaken = relative @ spread
        loss = -(weights * logs[np.arange(len(labels)), labels]).sum()
        loss += pull * (apart**2).sum() + steady * (shaken * relative).sum()
        gradient = (weights[:, None] * (np.exp(logs) - target)).T @ with_one + 2 * pull * apart
        gradient[:, :-1] += 2 * steady * shaken
        return float(loss), gradient.ravel()

    found = minimize(
        objective, origin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}
    )
    solved = found.x.reshape(origin.shape)
    return scaling.onto_plain(Head(solved[:, :-1], solved[:, -1]))


def balanced_weights(labels: Indices, emphasis: Doubles) -> Doubles:
    """Weights (N,) in proportion to `emphasis` within each class; every class has the same sum."""
    sums = np.bincount(labels, weights=emphasis)
    return emphasis / sums[labels] / np.count_nonzero(sums)
