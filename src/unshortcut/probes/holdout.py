"""The part of a training set that is held out to choose settings on."""

import torch
from torch import Tensor

from unshortcut.errors import UsageError
from unshortcut.randomness import generator


def stratified_holdout(labels: Tensor, part: float, seed: int) -> Tensor:
    """Sample the held-out samples, (N,) bool: a `part` of each class.

    A class with two or more samples has at least one on either side; the only sample of a class is
    kept. scikit-learn's `StratifiedShuffleSplit` refuses a class with one sample, and its other
    splits would change published results.
    """
    if not 0 < part < 1:
        raise UsageError(f"the held-out part must be between 0 and 1, not {part}")
    shuffled = torch.from_numpy(generator("linear probe", "holdout", seed).permutation(len(labels)))
    by_class = shuffled[labels.cpu()[shuffled].argsort(stable=True)]
    held = torch.zeros(len(labels), dtype=torch.bool)
    for members in by_class.split(torch.bincount(labels.cpu()).tolist()):
        count = min(max(round(part * len(members)), 1), max(len(members) - 1, 0))
        held[members[:count]] = True
    if not held.any():
        raise UsageError(
            "no class has two training samples, so none can be held out to choose a learning rate; "
            "give one learning rate and one weight decay"
        )
    return held.to(labels.device)
