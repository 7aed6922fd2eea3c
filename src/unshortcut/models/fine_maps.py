"""The deepest feature map of a model that is still fine enough, whatever the model is."""

from typing import Any

import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.inference.forward import run_model
from unshortcut.models.loaded import LoadedModel


def fine_map(model: LoadedModel, images: Tensor, cells: int) -> Tensor:
    """(N, C, h, w): the output of the last layer with at least `cells` cells along both sides.

    The last map of most networks has a cell for every 32 pixels, which is too coarse for boxes.
    Tokens of a ViT are arranged as they lie in the image, without the class token and registers.
    If no map is that fine, it is the finest one that the model has after its first layer.

    Args:
        images: uint8 (N, 3, H, W).
    """
    if model.module is None:
        raise UsageError(f"'{model.name}' is not a network of torch whose feature maps can be seen")
    seen: list[Tensor] = []

    def keep(module: nn.Module, inputs: Any, output: Any) -> None:
        found = _as_map(output)
        if found is not None and min(found.shape[2:]) > 1:
            seen.append(found)

    modules = list(model.module.modules())
    within = {part for module in modules for part in _parts_of_attention(module)}
    hooks = [module.register_forward_hook(keep) for module in modules if module not in within]
    try:
        run_model(model, images, model.features)
    finally:
        for hook in hooks:
            hook.remove()
    fine = [one for one in seen if min(one.shape[2:]) >= cells]
    if not seen:
        raise UsageError(f"'{model.name}' has no feature map to find objects in")
    chosen = fine[-1] if fine else max(seen[::-1], key=lambda one: min(one.shape[2:]))
    return chosen.float().cpu()


def _parts_of_attention(module: nn.Module) -> list[nn.Module]:
    """The parts of an attention layer, whose outputs by head and token look like maps."""
    is_attention = hasattr(module, "num_heads") and hasattr(module, "proj")
    return list(module.modules())[1:] if is_attention else []


def _as_map(output: Any) -> Tensor | None:
    """An output as (N, C, h, w); None if it is neither a map nor tokens of a square image."""
    if not isinstance(output, Tensor) or not torch.is_floating_point(output):
        return None
    if output.dim() == 4:
        return output
    if output.dim() == 3:
        for others in (0, 1, 5):  # without a class token, with one, and with four registers
            side = round((output.shape[1] - others) ** 0.5)
            if side > 1 and side * side == output.shape[1] - others:
                return output[:, others:].transpose(1, 2).unflatten(2, (side, side))
    return None
