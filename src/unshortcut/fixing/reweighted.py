"""Refit a head where the first one errs, without knowing any groups (AFR, Qiu et al. 2023).

Images that go by a shortcut are those that the first head is sure of. Each image has the weight
exp(-γ · probability of its class by the first head), balanced by class, and the new head is pulled
toward the first one:

    Σ weight · cross-entropy + pull · |w - w_first|²

on scaled features, where a pull means the same for every feature.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from unshortcut.measuring.linear_head import Doubles, Head, Indices, Scaling

GAMMAS = (0.0, 4.0, 10.0, 20.0)
"""Emphases on errors to choose from; 0 only balances classes."""
PULLS = (1.0, 0.1, 0.01, 0.001, 0.0001)
_ITERATIONS = 500


def fit_reweighted(
    features: Doubles, labels: Indices, first: Head, *, gamma: float, pull: float
) -> Head:
    """The head that minimizes the reweighted loss.

    Args:
        features: (N, D)
        labels: (N,)
        first: the head whose errors count.
        gamma: how much they count.
        pull: weight of the squared distance from the first head.
    """
    scaling = Scaling.of(features)
    rows, start = scaling.scaled(features), scaling.onto_scaled(first)
    weights = error_weights(first.probabilities(features), labels, gamma)
    origin = np.concatenate([start.weight, start.bias[:, None]], axis=1)  # (C, D + 1)
    with_one = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    target = np.eye(len(origin))[labels]

    def objective(flat: Doubles) -> tuple[float, Doubles]:
        values = flat.reshape(origin.shape)
        logs = log_softmax(with_one @ values.T, axis=1)
        apart = values - origin
        loss = -(weights * logs[np.arange(len(labels)), labels]).sum() + pull * (apart**2).sum()
        gradient = (weights[:, None] * (np.exp(logs) - target)).T @ with_one + 2 * pull * apart
        return float(loss), gradient.ravel()

    found = minimize(
        objective, origin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}
    )
    solved = found.x.reshape(origin.shape)
    return scaling.onto_plain(Head(solved[:, :-1], solved[:, -1]))


def error_weights(probabilities: Doubles, labels: Indices, gamma: float) -> Doubles:
    """Weights (N,) with sum 1; every class has the same sum.

    Args:
        probabilities: (N, C) by the first head.
    """
    emphasis = np.exp(-gamma * probabilities[np.arange(len(labels)), labels])
    sums = np.bincount(labels, weights=emphasis)
    return emphasis / sums[labels] / np.count_nonzero(sums)
