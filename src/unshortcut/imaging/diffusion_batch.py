"""Anisotropic diffusion of a batch of tensors, on any device; equal to `diffusion` to rounding."""

import torch
from torch import Tensor

from unshortcut.imaging.diffusion import Conductance, check_settings


@torch.no_grad()
def anisotropic_diffusion_batch(
    images: Tensor,
    *,
    iterations: int | Tensor = 20,
    kappa: float = 20.0,
    gamma: float = 0.1,
    conductance: Conductance = "exponential",
    joint: bool = False,
) -> Tensor:
    """Smooth images while preserving their edges.

    Args:
        images: (n, c, h, w) or (c, h, w), uint8 or floating point on the 0..255 scale.
        iterations: one number for all images, or an (n,) tensor of integers.
        kappa, gamma, conductance, joint: see `diffusion.anisotropic_diffusion`.

    Returns:
        A tensor of the same shape, dtype and device, without a gradient; uint8 is rounded.

    Raises:
        ValueError: a setting is out of range, or the tensor has another shape or dtype.
    """
    if images.ndim not in (3, 4) or not (images.dtype == torch.uint8 or images.is_floating_point()):
        raise ValueError(
            "images must be uint8 or floating point of shape (n, c, h, w) or (c, h, w), "
            f"not {images.dtype} of shape {tuple(images.shape)}"
        )
    batch = images if images.ndim == 4 else images[None]
    counts = _counts(iterations, len(batch))
    check_settings(min(counts, default=0), kappa, gamma, conductance, joint)

    # Images with the most iterations come first, so that the unfinished ones are always a slice.
    order = sorted(range(len(counts)), key=lambda number: -counts[number])
    positions = torch.tensor(order, device=batch.device, dtype=torch.long)
    precision = torch.float64 if images.dtype == torch.float64 else torch.float32
    state = batch[positions].to(precision)
    axes = (-3, -2, -1) if joint else (-2, -1)
    for done in range(max(counts, default=0)):
        active = state[: sum(count > done for count in counts)]
        # Compute all flows before changing the state.
        flows = [_flow(active.diff(dim=axis), kappa, gamma, conductance) for axis in axes]
        for axis, flow in zip(axes, flows, strict=True):
            length = active.shape[axis] - 1
            active.narrow(axis, 0, length).add_(flow)
            active.narrow(axis, 1, length).sub_(flow)

    if images.dtype == torch.uint8:
        state = state.round_()
    diffused = torch.empty_like(batch)
    diffused[positions] = state.to(images.dtype)
    return diffused.reshape(images.shape)


def _counts(iterations: int | Tensor, num_images: int) -> list[int]:
    if isinstance(iterations, int):
        return [iterations] * num_images
    if iterations.shape != (num_images,) or iterations.is_floating_point():
        raise ValueError(
            f"iterations must be an integer or a tensor of {num_images} integers, "
            f"not {iterations.dtype} of shape {tuple(iterations.shape)}"
        )
    counts: list[int] = iterations.tolist()
    return counts


def _flow(difference: Tensor, kappa: float, gamma: float, conductance: Conductance) -> Tensor:
    """γ g(δ) δ, with the shape of δ."""
    square = (difference / kappa).square_()
    if conductance == "exponential":
        return square.neg_().exp_().mul_(difference).mul_(gamma)
    if conductance == "rational":
        return difference.mul(gamma).div_(square.add_(1))
    return (1 - square / 2).clamp_(min=0).square_().mul_(difference).mul_(gamma / 2)
