"""Refit a head on images in which every group counts the same (DFR, Kirichenko et al. 2023).

A group is a class with or without a cue, e.g. dogs with a tag. From each as many images are drawn
as the smallest has, so that the cue says nothing of the class; an L1-penalized logistic regression
on scaled features is fitted to them, and the heads of several draws are averaged.
"""

import numpy as np

from unshortcut.fixing.sparse_logistic import fit_sparse_logistic
from unshortcut.measuring.linear_head import Doubles, Head, Indices, Scaling
from unshortcut.randomness import generator

DRAWS = 10
STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01)
"""Inverse penalties to choose from (`C` of scikit-learn), as published, from weak to strong."""


def fit_balanced(
    features: Doubles,
    labels: Indices,
    groups: Indices,
    *,
    num_classes: int,
    strength: float,
    draws: int = DRAWS,
    seed: int = 0,
) -> Head:
    """The mean head of several balanced draws.

    Args:
        features: (N, D)
        labels: (N,), classes.
        groups: (N,), the group of each image; images of two classes are never in one group.
        strength: inverse strength of the L1 penalty.
    """
    scaling = Scaling.of(features)
    rows = scaling.scaled(features)
    heads = []
    for draw in range(draws):
        chosen = balanced_rows(groups, seed, draw)
        heads.append(fit_sparse_logistic(rows[chosen], labels[chosen], num_classes, strength))
    mean = Head(
        np.mean([one.weight for one in heads], axis=0), np.mean([one.bias for one in heads], axis=0)
    )
    return scaling.onto_plain(mean)


def balanced_rows(groups: Indices, seed: int, draw: int) -> Indices:
    """Rows with as many images of every group as the smallest has, in ascending order."""
    order = generator(seed, "balanced draw", draw).permutation(len(groups))
    _, counts = np.unique(groups, return_counts=True)
    fewest = int(counts.min())
    chosen = [order[groups[order] == one][:fewest] for one in np.unique(groups)]
    return np.sort(np.concatenate(chosen))
