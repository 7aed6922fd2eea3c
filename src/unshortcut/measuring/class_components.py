"""What a class is recognized by, as principal components of its weighted features.

Neuhaus et al. (2023): features of the images of a class, each multiplied by its weight in the head,
have a sum that is the logit of the class. Their principal components share that sum out among
directions, of which one may be a background or a tag. SpuFix subtracts such a component from the
logit. Here it is subtracted entirely, not only where it is positive, so that the result is again a
linear head, which every export can hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unshortcut.measuring.linear_head import Doubles, Head


@dataclass(frozen=True)
class ClassComponents:
    """The principal components of one class, the largest variance first."""

    label: int
    mean: Doubles
    """(D,): mean weighted features of the class."""
    directions: Doubles
    """(K, D): orthonormal."""

    def shares(self, features: Doubles, head: Head) -> Doubles:
        """What each component adds to the logit of the class, (N, K), beyond the mean image."""
        weighted = features * head.weight[self.label] - self.mean
        return (weighted @ self.directions.T) * self.directions.sum(axis=1)


def class_components(features: Doubles, head: Head, label: int, count: int) -> ClassComponents:
    """The first components of the features (N, D) of images of a class."""
    weighted = np.asarray(features, dtype=np.float64) * head.weight[label]
    mean = weighted.mean(axis=0)
    _, _, directions = np.linalg.svd(weighted - mean, full_matrices=False)
    return ClassComponents(label, mean, directions[:count])


def without_components(head: Head, found: Iterable[tuple[ClassComponents, int]]) -> Head:
    """The head without some components of some classes, each by its number from 0."""
    weight, bias = head.weight.copy(), head.bias.copy()
    for components, number in found:
        direction = components.directions[number]
        share = direction.sum() * direction  # (D,)
        weight[components.label] -= share * head.weight[components.label]
        bias[components.label] += share @ components.mean
    return Head(weight, bias)
