"""The head of hyperbolic learning, from features to points of the Poincaré ball."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unshortcut.models.poincare import distance, exp0

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class BallHead:
    """A head in eval mode, and the curvature of the ball that its output is mapped to."""

    head: nn.Module
    """Features (N, F) to vectors (N, D), not normalized."""
    curvature: float

    def norms(self, features: Rows) -> Rows:
        """Lengths (N,) of the vectors of features (N, F).

        A point is at twice this distance from the center of the ball; points themselves are kept
        from its border, which would make long vectors equal.
        """
        return np.asarray(np.linalg.norm(self._vectors(features), axis=1))

    def distances(self, features: Rows, others: Rows) -> Rows:
        """Hyperbolic distances (N,) of the points of features (N, F) and others (N, F)."""
        points = [
            exp0(torch.from_numpy(self._vectors(one)), self.curvature) for one in (features, others)
        ]
        return distance(points[0], points[1], self.curvature).numpy()

    @torch.inference_mode()
    def _vectors(self, features: Rows) -> Rows:
        first = next(self.head.parameters(), None)
        rows = torch.from_numpy(features).to("cpu" if first is None else first.device)
        vectors: Rows = self.head(rows).float().cpu().numpy()
        return vectors
