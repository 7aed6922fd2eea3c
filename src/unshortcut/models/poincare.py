"""The Poincaré ball of curvature −c: points x with c‖x‖² < 1, and how far apart they are.

Hyperbolic contrastive learning (dissertation, section 1.3) embeds scenes and objects in it. All
functions take rows along the last dimension, and give finite values and gradients for every finite
input, in float32 as well: norms are computed of rows that are scaled to at most 1, and the distance
by asinh, which needs no difference of numbers close to 1 other than 1 − c‖x‖² itself.
"""

import math
from typing import Any

import torch
from torch import Tensor

BORDER = 1e-3
"""Points are kept within the share 1 − BORDER of the ball's radius, as published: beyond, 1 − c‖x‖²
has few digits in float32."""


def exp0(vectors: Tensor, c: float) -> Tensor:
    """The exponential map at the origin, tanh(√c‖v‖) v / (√c‖v‖), kept within the border.

    vectors: (…, D), any finite rows. Returns (…, D), rows inside the ball.

    >>> exp0(torch.tensor([[3.0, 4.0]]), c=0.01) / math.tanh(0.5)
    tensor([[6.0000, 8.0000]])
    """
    direction, norm = _direction_and_norm(vectors)
    radius = torch.tanh(math.sqrt(c) * norm) / math.sqrt(c)
    return direction * radius.clamp(max=largest_radius(c))


def project(points: Tensor, c: float) -> Tensor:
    """Points (…, D) moved along their radius to the border if they are beyond it."""
    direction, norm = _direction_and_norm(points)
    limit = largest_radius(c)
    return torch.where(norm > limit, direction * limit, points)


def largest_radius(c: float) -> float:
    """The radius up to which points are kept, (1 − BORDER) / √c."""
    return (1 - BORDER) / math.sqrt(c)


def mobius_add(x: Tensor, y: Tensor, c: float) -> Tensor:
    """Möbius addition x ⊕ y of points (…, D) of the ball.

    ((1 + 2c⟨x, y⟩ + c‖y‖²) x + (1 − c‖x‖²) y) / (1 + 2c⟨x, y⟩ + c²‖x‖²‖y‖²); the denominator is at
    least (1 − c‖x‖‖y‖)².
    """
    xy = (x * y).sum(dim=-1, keepdim=True)
    xx, yy = (one.square().sum(dim=-1, keepdim=True) for one in (x, y))
    numerator = (1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y
    denominator = 1 + 2 * c * xy + c**2 * xx * yy
    return numerator / denominator.clamp(min=torch.finfo(x.dtype).eps ** 2)


def distance(x: Tensor, y: Tensor, c: float) -> Tensor:
    """The hyperbolic distance (…,) of points (…, D), row by row.

    (2/√c) artanh(√c‖(−x) ⊕ y‖), computed as (2/√c) asinh(√c‖x − y‖ / √((1 − c‖x‖²)(1 − c‖y‖²))).
    """
    squared = (x - y).square().sum(dim=-1)
    return _from_squared(squared, _inner(x, c), _inner(y, c), c)


def pairwise_distance(x: Tensor, y: Tensor, c: float) -> Tensor:
    """Distances (N, K) of points (N, D) to points (K, D).

    ‖x − y‖² comes from one matrix product, so that no tensor (N, K, D) is needed: a queue has
    65,536 points. Near the border, where a small difference is far, ‖x‖² + ‖y‖² − 2⟨x, y⟩ has too
    few digits in float32, so that it is computed in float64, also under autocast.
    """
    with torch.autocast(x.device.type, enabled=False):
        wide = x.dtype if x.device.type == "mps" else torch.float64  # which Apple's GPUs lack
        rows, columns = x.to(wide), y.to(wide)
        xx, yy = rows.square().sum(dim=1), columns.square().sum(dim=1)
        squared = (xx[:, None] + yy[None] - 2 * (rows @ columns.T)).clamp(min=0).to(x.dtype)
    return _from_squared(squared, _inner(x, c)[:, None], _inner(y, c)[None], c)


def riemannian(points: Tensor, c: float) -> Tensor:
    """The same points (…, D), whose gradient is multiplied by (1 − c‖x‖²)² / 4.

    It turns the gradient of a plain optimizer into that of the ball's metric, as published.
    """
    scaled: Tensor = _Riemannian.apply(points, c)
    return scaled


class _Riemannian(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points: Tensor, c: float) -> Tensor:
        ctx.save_for_backward(points)
        ctx.c = c
        return points.view_as(points)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (points,) = ctx.saved_tensors
        scale = (1 - ctx.c * points.square().sum(dim=-1, keepdim=True)).square() / 4
        return gradients[0] * scale, None


def _direction_and_norm(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Unit rows (0 for a row of zeros) and norms (…, 1), without overflow or underflow."""
    largest = rows.detach().abs().amax(dim=-1, keepdim=True)
    largest = torch.where(largest > 0, largest, 1.0)
    scaled = rows / largest  # its squares neither overflow nor all vanish
    length = scaled.square().sum(dim=-1, keepdim=True)
    length = torch.where(length > 0, length, 1.0).sqrt()
    is_zero = (rows == 0).all(dim=-1, keepdim=True)
    return scaled / length, torch.where(is_zero, 0.0, largest * length)


def _inner(x: Tensor, c: float) -> Tensor:
    """1 − c‖x‖² (…,), not below what the border leaves."""
    least = 1 - (1 - BORDER) ** 2
    return (1 - c * x.square().sum(dim=-1)).clamp(min=least)


def _from_squared(squared: Tensor, inner_x: Tensor, inner_y: Tensor, c: float) -> Tensor:
    # The square root has no gradient at 0; two points in one place have the subgradient 0.
    apart = squared > torch.finfo(squared.dtype).tiny
    ratio = c * torch.where(apart, squared, 1.0) / (inner_x * inner_y)
    return torch.where(apart, 2 / math.sqrt(c) * torch.asinh(ratio.sqrt()), 0.0)
