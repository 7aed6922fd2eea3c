"""A linear head on frozen features, in double precision."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from torch import nn

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Head:
    """Maps features (N, D) to logits (N, C)."""

    weight: Doubles
    """(C, D)"""
    bias: Doubles
    """(C,)"""

    @classmethod
    def of(cls, layer: nn.Linear) -> "Head":
        """The head with the weights of a layer."""
        weight, bias = layer.weight.detach(), layer.bias
        zeros = torch.zeros(len(weight))
        values = (
            one.detach().cpu().double().numpy() for one in (weight, zeros if bias is None else bias)
        )
        return cls(*values)

    def layer(self) -> nn.Linear:
        """A layer with these weights, in single precision."""
        count, width = self.weight.shape
        layer = nn.utils.skip_init(nn.Linear, width, count)
        state = {"weight": self.weight, "bias": self.bias}
        layer.load_state_dict({name: torch.from_numpy(one).float() for name, one in state.items()})
        return layer

    def logits(self, features: NDArray[np.floating]) -> Doubles:
        return np.asarray(features, dtype=np.float64) @ self.weight.T + self.bias

    def probabilities(self, features: NDArray[np.floating]) -> Doubles:
        """(N, C)"""
        return np.asarray(softmax(self.logits(features), axis=1))

    def log_probabilities(self, features: NDArray[np.floating]) -> Doubles:
        """(N, C)"""
        return np.asarray(log_softmax(self.logits(features), axis=1))

    def predict(self, features: NDArray[np.floating]) -> Indices:
        """The class of each row (N,)."""
        return self.logits(features).argmax(axis=1)


@dataclass(frozen=True)
class Scaling:
    """Mean 0 and variance 1 for every feature, as measured on some images."""

    mean: Doubles
    """(D,)"""
    scale: Doubles
    """(D,): standard deviations, 1 for a constant feature."""

    @classmethod
    def of(cls, features: NDArray[np.floating]) -> "Scaling":
        rows = np.asarray(features, dtype=np.float64)
        scale = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def scaled(self, features: NDArray[np.floating]) -> Doubles:
        return (np.asarray(features, dtype=np.float64) - self.mean) / self.scale

    def onto_scaled(self, head: Head) -> Head:
        """The head on scaled features that gives the logits of `head` on plain ones."""
        return Head(head.weight * self.scale, head.bias + head.weight @ self.mean)

    def onto_plain(self, head: Head) -> Head:
        """The head on plain features that gives the logits of `head` on scaled ones."""
        weight = head.weight / self.scale
        return Head(weight, head.bias - weight @ self.mean)
