"""Masked methods transcribed image by image and patch by patch, in the order of the papers."""

import torch
from torch import Tensor

from unshortcut.methods.can import CAN
from unshortcut.methods.mae import MAE
from unshortcut.models.masking import PatchMask


def patches_of(image: Tensor, side: int) -> list[Tensor]:
    """The patches of an image (3, H, W), row by row, as vectors."""
    _, height, width = image.shape
    return [
        image[:, top : top + side, left : left + side].permute(1, 2, 0).flatten()
        for top in range(0, height, side)
        for left in range(0, width, side)
    ]


def encoded(
    method: MAE | CAN, image: Tensor, visible: list[int], noise: Tensor | None = None
) -> Tensor:
    """Tokens (1 + V, C) of the visible patches of one image, the class token first.

    noise: (V, P), added to them.
    """
    vit = method.encoder.model
    kernel = vit.patch_embed.proj.weight.flatten(1)  # channel by channel, row by row
    side = vit.patch_embed.patch_size[0]
    tokens = [vit.cls_token[0, 0] + vit.pos_embed[0, 0]]
    for number, place in enumerate(visible):
        pixels = patches_of(image, side)[place] + (0 if noise is None else noise[number])
        patch = pixels.reshape(side, side, 3).permute(2, 0, 1).flatten()
        tokens.append(kernel @ patch + vit.patch_embed.proj.bias + vit.pos_embed[0, 1 + place])
    whole: Tensor = vit.norm(vit.blocks(torch.stack(tokens)[None]))[0]
    return whole


def decoded(
    method: MAE | CAN, tokens: Tensor, visible: list[int], level: Tensor | None = None
) -> Tensor:
    """Predictions (L, P) for all patches of one image."""
    decoder = method.decoder
    embedded = decoder.embed(tokens)
    placed = [embedded[0]]
    for place in range(method.grid.count):
        at = visible.index(place) + 1 if place in visible else None
        token = decoder.mask_token[0, 0] if at is None else embedded[at]
        placed.append(token + decoder.positions[0, place])
    whole = torch.stack(placed)
    if level is not None:
        whole = whole + level
    predicted: Tensor = decoder.output(decoder.norm(decoder.blocks(whole[None])[0]))[1:]
    return predicted


def pixel_errors(method: MAE | CAN, image: Tensor, predicted: Tensor, hidden: list[int]) -> Tensor:
    """The mean squared error of each hidden patch of an image, standardized as in MAE."""
    errors = []
    for place in hidden:
        target = patches_of(image, method.grid.side)[place]
        target = (target - target.mean()) / (target.var() + 1e-6).sqrt()
        errors.append(((predicted[place] - target) ** 2).mean())
    return torch.stack(errors)


def by_image(mask: PatchMask) -> list[tuple[list[int], list[int]]]:
    """Visible and hidden patches of each image."""
    return list(zip(mask.visible.tolist(), mask.hidden.tolist(), strict=True))
