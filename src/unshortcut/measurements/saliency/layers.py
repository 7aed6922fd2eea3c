"""The layers that Grad-CAM uses: the last ones whose outputs are maps of the image."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unshortcut.measuring.errors import NotApplicable
from unshortcut.models.branches import Branched
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.loaded import Function

SMALLEST = 4
"""Side of the smallest map that is used. Later layers know more about the class, but less about
positions: a ResNet has 7 × 7 positions at 224 pixels and 2 × 2 at 64, where the layer before with
4 × 4 is used."""

# Their outputs can have the shape of a map without being one (attention), or are just passed on.
_NO_MAPS = (nn.Dropout, nn.Softmax, nn.Identity, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)


@dataclass(frozen=True)
class Layers:
    """One layer, or one per parallel branch of a model."""

    modules: tuple[nn.Module, ...]
    names: tuple[str, ...]
    side: int
    """Side of the maps of the first layer."""


def as_maps(outputs: Tensor) -> Tensor:
    """The outputs of a layer as maps (N, C, h, h); they may be channels-last or tokens.

    Tokens (N, T, C) form the largest possible square grid, after other tokens (class, registers).
    Returns a copy, because the next layer may write into the outputs.
    """
    if outputs.ndim == 3:
        side = math.isqrt(outputs.shape[1])
        grid = outputs[:, outputs.shape[1] - side * side :]
        return grid.transpose(1, 2).unflatten(2, (side, side)).clone()
    channels_last = outputs.shape[1] == outputs.shape[2] != outputs.shape[3]
    return (outputs.permute(0, 3, 1, 2) if channels_last else outputs).clone()


def find_layers(module: nn.Module, scores: Function, images: Tensor) -> Layers:
    """The deepest layers with maps of at least 4 × 4 positions that the scores depend on.

    For transformers it is the last layer norm with a gradient at these positions: with a class
    token that is the first norm of the last block, because later outputs at other positions are
    not used.

    Args:
        images: a few normalized images (N, 3, S, S).
    """
    sides = _sides(module, scores, images)
    chosen = [_last(part, sides) for part in _parts(module)]
    if None in chosen:
        chosen = [_last(module, sides)]
    found = [one for one in chosen if one is not None]
    if not found:
        raise NotApplicable(
            f"the model has no layer with maps of at least {SMALLEST} × {SMALLEST} positions that "
            "its decisions depend on"
        )
    names = {one: name for name, one in module.named_modules()}
    return Layers(tuple(found), tuple(names[one] for one in found), sides[found[0]])


def _sides(module: nn.Module, scores: Function, images: Tensor) -> dict[nn.Module, int]:
    """Sides of the maps of modules that run once and have a gradient, in the order they finish."""
    seen: list[tuple[nn.Module, Tensor]] = []
    times: Counter[nn.Module] = Counter()

    def keep(one: nn.Module, _: object, output: object) -> None:
        times[one] += 1
        if isinstance(output, Tensor) and output.requires_grad and _is_map(one, output, images):
            seen.append((one, output))

    hooks = [one.register_forward_hook(keep) for one in module.modules()]
    try:
        with torch.enable_grad():
            decided = scores(images.detach().requires_grad_()).amax(dim=1).sum()
    finally:
        for hook in hooks:
            hook.remove()
    once = [(one, output) for one, output in seen if times[one] == 1]
    if not once:
        return {}
    gradients = torch.autograd.grad(decided, [output for _, output in once], allow_unused=True)
    return {
        one: as_maps(gradient).shape[-1]
        for (one, _), gradient in zip(once, gradients, strict=True)
        if gradient is not None and as_maps(gradient).any()
    }


def _is_map(one: nn.Module, output: Tensor, images: Tensor) -> bool:
    if len(output) != len(images) or isinstance(one, _NO_MAPS):
        return False
    if output.ndim == 3:
        return isinstance(one, nn.LayerNorm) and math.isqrt(output.shape[1]) >= SMALLEST
    square = output.ndim == 4 and (
        output.shape[2] == output.shape[3] or output.shape[1] == output.shape[2]
    )
    return square and as_maps(output).shape[-1] >= SMALLEST


def _last(part: nn.Module, sides: Mapping[nn.Module, int]) -> nn.Module | None:
    """The module of a branch that finishes last."""
    inside = set(part.modules())
    return next((one for one in reversed(list(sides)) if one in inside), None)


def _parts(module: nn.Module) -> list[nn.Module]:
    """The parallel branches of our own encoders; other models as a whole."""
    for one in module.modules():
        if isinstance(one, Branched):
            return list(one.branches)
        if isinstance(one, ColorSplit):
            return [one.lightness, one.color]
    return [module]
