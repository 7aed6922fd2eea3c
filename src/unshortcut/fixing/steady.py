"""Refit a head that a cue leaves steady, on images that are known with and without the cue.

The head learns the classes from the images without the cue, and pays for every change of its
logits between the two versions of an image. Images with a pasted cue as further examples of their
classes would tell it the same, but more loosely: to be right on all of them takes away from being
right on images that look like real ones (`benchmarks/fixing.py` measures that).
"""

import numpy as np

from unshortcut.fixing.pulled import balanced_weights, fit_pulled
from unshortcut.measuring.linear_head import Doubles, Head, Indices

PULLS = (0.1, 0.03, 0.01, 0.003)
STEADINESS = (0.03, 0.1)
"""Weights of the change of the logits to choose from."""


def fit_steady(
    without: Doubles,
    with_cue: Doubles,
    labels: Indices,
    first: Head,
    *,
    pull: float,
    steady: float,
) -> Head:
    """The head that is right without the cue and decides the same with it.

    Args:
        without: (N, D), features of images without the cue.
        with_cue: (N, D), those of the same images with it.
        labels: (N,)
        first: the head that it is pulled toward.
        pull: weight of the squared distance from the first head.
        steady: weight of the mean squared change of the logits by the cue.
    """
    weights = balanced_weights(labels, np.ones(len(labels)))
    changes = with_cue - without
    return fit_pulled(without, labels, weights, first, pull=pull, changes=changes, steady=steady)
