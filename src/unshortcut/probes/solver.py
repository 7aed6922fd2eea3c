"""Many L2-penalized softmax classifiers on one feature matrix, solved side by side.

The features are centered and rotated onto their principal axes once (`Basis`). There the Hessian of
the loss is close to a diagonal matrix, which preconditions L-BFGS: it converges in a few dozen
passes over the features whatever their scale and conditioning.

Shapes: N samples, A axes (the last one constant, for the bias), H heads, K classes.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

HISTORY = 8
"""Steps that L-BFGS remembers."""
CHUNK = 2**22
"""Logits held at once, in numbers."""
ROWS = 2**14
"""Feature rows that are centered and rotated at once."""
RELATIVE_RANK = 1e-9
"""Axes with less than this part of the largest axis' energy are rounding, and are dropped."""


@dataclass(frozen=True)
class Basis:
    """The principal axes of training features, and a last, constant axis for the bias."""

    mean: Tensor
    """(D,)"""
    axes: Tensor
    """(D, A - 1), orthonormal columns; A - 1 is the rank of the centered features."""
    energy: Tensor
    """(A,): mean square of each coordinate over the training set."""

    @classmethod
    def of(cls, features: Tensor) -> "Basis":
        """The basis of features (N, D) of any floating type."""
        mean = features.mean(0, dtype=torch.float64)
        axes_of = _tall_axes if len(features) > len(mean) else _wide_axes
        energy, axes = axes_of(features, mean.float())
        return cls(mean.float(), axes.float(), torch.cat([energy, energy.new_ones(1)]).float())

    def coordinates(self, features: Tensor) -> Tensor:
        """(N, D) of any floating type -> (N, A) float32."""
        rotated = torch.ones(len(features), len(self.energy), device=features.device)
        for source, target in zip(features.split(ROWS), rotated.split(ROWS), strict=True):
            target[:, :-1] = (source.float() - self.mean) @ self.axes
        return rotated

    def plain(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (K, A) on coordinates -> weight (K, D) and bias (K,) on the features."""
        weight = weights[:, :-1] @ self.axes.T
        bias = weights[:, -1].double() - weight.double() @ self.mean.double()
        return weight, bias.float()


@dataclass(frozen=True)
class Problem:
    """H classifiers; each minimizes its own weighted cross-entropy plus its own penalty.

    Head h minimizes sum_n shares[h, n] * CE(weights[h] @ coordinates[n], labels[n])
    + penalty[h] / 2 * |weights[h] - center[h]|^2, where the bias is not penalized.
    """

    coordinates: Tensor
    """(N, A), of `Basis.coordinates`."""
    labels: Tensor
    """(N,) int64."""
    shares: Tensor
    """(H, N): what each sample counts for each head; rows sum to one."""
    penalty: Tensor
    """(H,)"""
    center: Tensor
    """(H, K, A): where the penalty pulls to."""

    def evaluate(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Loss (H,) and gradient (H, K, A) at weights (H, K, A), in one pass by chunks."""
        heads, classes, axes = weights.shape
        flat = weights.reshape(heads * classes, axes)
        offset = weights - self.center
        pull = offset * self.penalty[:, None, None]
        pull[..., -1] = 0
        value = 0.5 * (pull * offset).sum((1, 2))
        gradient = pull.view_as(flat)
        rows = max(1, CHUNK // (heads * classes))
        for first in range(0, len(self.labels), rows):
            part = slice(first, first + rows)
            x, share = self.coordinates[part], self.shares[:, part]
            # Logits are (H, K, n): this side of the product is several times faster where the
            # heads are few, and the softmax runs along contiguous samples.
            log_p = (flat @ x.T).view(heads, classes, -1).log_softmax(1)
            index = self.labels[part].expand(heads, 1, -1)
            value -= (log_p.gather(1, index)[:, 0] * share).sum(1)
            residual = log_p.exp_()
            residual.scatter_add_(1, index, residual.new_tensor(-1.0).expand_as(index))
            residual *= share[:, None]
            gradient.addmm_(residual.view(heads * classes, -1), x)
        return value, gradient.view_as(weights)

    def diagonal(self, energy: Tensor) -> Tensor:
        """The Hessian's diagonal (H, 1, A) where all classes are equally likely, 1 / K each."""
        ridge = self.penalty[:, None].repeat(1, len(energy))
        ridge[:, -1] = 0
        return (energy / self.center.shape[1] + ridge)[:, None]


def solve(
    problem: Problem, energy: Tensor, start: Tensor, *, tolerance: float, max_passes: int
) -> Tensor:
    """Weights (H, K, A) whose objective is within about `tolerance` of each head's minimum.

    L-BFGS on all heads in step, each with its own memory and its own line search; a head is done
    when the decrease that its quadratic model promises is below `tolerance` (in nats). `energy` is
    the basis'; one pass reads the features twice.
    """
    memory = _Memory(problem.diagonal(energy))
    point, length = start, torch.ones_like(problem.penalty)
    value, gradient = problem.evaluate(point)
    direction = -memory.apply(gradient)
    slope = _dot(gradient, direction)
    for _ in range(max_passes):
        moving = -0.5 * slope > tolerance
        if not moving.any():
            break
        trial = point + (length * moving)[:, None, None] * direction
        trial_value, trial_gradient = problem.evaluate(trial)
        # The slack is the rounding of the values themselves.
        bound = value + 1e-4 * length * slope + 1e-6 * value.abs()
        taken = moving & (trial_value <= bound)
        wide = taken[:, None, None]
        memory.add(
            torch.where(wide, trial - point, 0.0),
            torch.where(wide, trial_gradient - gradient, 0.0),
        )
        point = torch.where(wide, trial, point)
        value = torch.where(taken, trial_value, value)
        gradient = torch.where(wide, trial_gradient, gradient)
        direction = torch.where(wide, -memory.apply(gradient), direction)
        slope = torch.where(taken, _dot(gradient, direction), slope)
        length = torch.where(taken, 1.0, 0.5 * length)
    return point


class _Memory:
    """What L-BFGS knows of the inverse Hessian of each head."""

    def __init__(self, diagonal: Tensor) -> None:
        self.diagonal = diagonal
        self.growth = torch.ones_like(diagonal[:, :, :1])
        self.pairs: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, step: Tensor, change: Tensor) -> None:
        """Remember a step and its change of gradient, (H, K, A); zeros where there was none."""
        agreement = _dot(step, change)
        useful = agreement > 0
        fresh = agreement / _dot(change, change / self.diagonal)
        self.growth = torch.where(useful[:, None, None], fresh[:, None, None], self.growth)
        self.pairs.append((step, change, torch.where(useful, 1 / agreement, 0.0)))
        del self.pairs[:-HISTORY]

    def apply(self, gradient: Tensor) -> Tensor:
        """The approximate inverse Hessian times a gradient (H, K, A), by the two loops."""
        rest = gradient.clone()
        shares = []
        for step, change, weight in reversed(self.pairs):
            share = weight * _dot(step, rest)
            rest -= share[:, None, None] * change
            shares.append(share)
        rest *= self.growth / self.diagonal
        for (step, change, weight), share in zip(self.pairs, reversed(shares), strict=True):
            rest += (share - weight * _dot(change, rest))[:, None, None] * step
        return rest


def _tall_axes(features: Tensor, mean: Tensor) -> tuple[Tensor, Tensor]:
    """Energies (A - 1,) and axes (D, A - 1) by way of the (D, D) covariance."""
    covariance = torch.zeros(len(mean), len(mean), dtype=torch.float64, device=mean.device)
    for part in features.split(ROWS):
        centered = part.float() - mean
        covariance += centered.T @ centered
    energy, axes = torch.linalg.eigh(covariance / len(features))
    kept = _kept(energy)
    return energy[kept], axes[:, kept]


def _wide_axes(features: Tensor, mean: Tensor) -> tuple[Tensor, Tensor]:
    """The same by way of the (N, N) products of samples: far fewer where N is less than D."""
    centered = (features.float() - mean).double()
    energy, sides = torch.linalg.eigh(centered @ centered.T / len(features))
    kept = _kept(energy)
    axes = centered.T @ sides[:, kept] / (len(features) * energy[kept]).sqrt()
    return energy[kept], axes


def _kept(energy: Tensor) -> Tensor:
    """(D,) bool: the axes that are more than rounding; energies ascend."""
    return energy > (RELATIVE_RANK * energy[-1]).clamp(min=torch.finfo(torch.float32).tiny)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """Inner products (H,) of (H, K, A)."""
    return (a * b).sum((1, 2))
