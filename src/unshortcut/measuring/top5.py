"""Top-5 accuracy of a model under audit, beside top-1 where there are more than ten classes."""

import numpy as np
import torch
from numpy.typing import NDArray

from unshortcut.probes.matrices import MANY_CLASSES, in_top


def top5_hits(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.bool_] | None:
    """Whether each label (N,) is among the five likeliest of K classes, (N,); None if K <= 10.

    Of equally likely classes, the first comes first, as in top-1. A class with a probability of 0,
    such as one without votes of nearest neighbors, is never among the five.
    """
    if probabilities.shape[1] <= MANY_CLASSES:
        return None
    hits: NDArray[np.bool_] = in_top(
        torch.from_numpy(probabilities), torch.from_numpy(labels)
    ).numpy()
    return hits & (probabilities[np.arange(len(labels)), labels] > 0)
