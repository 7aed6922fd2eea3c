"""Multinomial logistic regression with an L1 penalty, by accelerated proximal gradient steps.

The objective is that of scikit-learn's `LogisticRegression(C=strength, l1_ratio=1)`,

    strength · Σ cross-entropy + Σ |w|,

whose only solver for several classes (`saga`) goes through the images one by one; here every step
is two matrix products (FISTA, Beck and Teboulle 2009, restarted where it overshoots).
"""

import numpy as np
from scipy.special import log_softmax

from unshortcut.measuring.linear_head import Doubles, Head, Indices

_ITERATIONS, _TOLERANCE = 2000, 1e-5


def fit_sparse_logistic(
    features: Doubles, labels: Indices, num_classes: int, strength: float
) -> Head:
    """The head that minimizes the objective; the bias is not penalized.

    Args:
        features: (N, D), scaled to similar sizes.
        labels: (N,); a class without images gets no weights and a bias that never wins.
    """
    present, own = np.unique(labels, return_inverse=True)
    rows = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    target = np.eye(len(present))[own]
    penalty = 1 / (strength * len(rows))
    # The second derivative of the cross-entropy is at most half of that of the squares.
    step = 2 * len(rows) / np.linalg.norm(rows, 2) ** 2
    current = ahead = np.zeros((len(present), rows.shape[1]))
    momentum = 1.0
    for _ in range(_ITERATIONS):
        gradient = (np.exp(log_softmax(rows @ ahead.T, axis=1)) - target).T @ rows / len(rows)
        moved = ahead - step * gradient
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * penalty, 0)
        shrunk[:, -1] = moved[:, -1]
        change = shrunk - current
        if ((ahead - shrunk) * change).sum() > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = shrunk + (momentum - 1) / following * change
        current, momentum = shrunk, following
        if np.abs(change).max() < _TOLERANCE:
            break
    weight = np.zeros((num_classes, features.shape[1]))
    bias = np.full(num_classes, current[:, -1].min() - 100.0)
    weight[present], bias[present] = current[:, :-1], current[:, -1]
    return Head(weight, bias)
