"""Refit a head where the first one errs, without knowing any groups (AFR, Qiu et al. 2023).

Images that go by a shortcut are those that the first head is sure of. Each image has the weight
exp(-γ · probability of its class by the first head), balanced by class, and the new head is pulled
toward the first one (`fit_pulled`).
"""

import numpy as np

from unshortcut.fixing.pulled import balanced_weights, fit_pulled
from unshortcut.measuring.linear_head import Doubles, Head, Indices

GAMMAS = (0.0, 4.0, 10.0, 20.0)
"""Emphases on errors to choose from; 0 only balances classes."""
PULLS = (1.0, 0.1, 0.01, 0.001, 0.0001)


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
    weights = error_weights(first.probabilities(features), labels, gamma)
    return fit_pulled(features, labels, weights, first, pull=pull)


def error_weights(probabilities: Doubles, labels: Indices, gamma: float) -> Doubles:
    """Weights (N,) with sum 1; every class has the same sum.

    Args:
        probabilities: (N, C) by the first head.
    """
    return balanced_weights(labels, np.exp(-gamma * probabilities[np.arange(len(labels)), labels]))
