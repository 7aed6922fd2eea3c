"""A timm ViT that sees only some of its patches."""

import torch
from timm.layers import PatchEmbed
from timm.models import VisionTransformer, checkpoint_seq, is_model, is_model_in_modules
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.imaging.patches import PatchGrid
from unshortcut.models.encoder import Encoder
from unshortcut.models.image_size import check_patches, other_size
from unshortcut.models.masking import PatchMask
from unshortcut.models.token_linear import token_linear

_NO_POOLING = ("", "map")
"""No feature of an image at all, and attention that only a loss of the features would train."""


def vit_of(encoder: Encoder) -> VisionTransformer:
    """The ViT of an encoder; `UsageError` if it is something else."""
    model = encoder.model
    if (
        not isinstance(model, VisionTransformer)
        or not isinstance(model.patch_embed, PatchEmbed)
        or getattr(model, "pos_embed", None) is None
        or hasattr(model, "dist_token")  # a second prefix token, which has a position of its own
    ):
        raise UsageError(_no_vit(encoder.settings.name))
    return model


def check_name(name: str) -> None:
    """`UsageError` if a name of timm is not that of a ViT; the rest is known once it is built."""
    plain = is_model_in_modules(name, ("vision_transformer", "deit")) and "distilled" not in name
    if is_model(name) and not plain:
        raise UsageError(_no_vit(name))


def _no_vit(name: str) -> str:
    return (
        f"encoder '{name}' cannot leave out patches: masked methods need a plain ViT of timm with "
        "absolute positions, such as vit_base_patch16_224"
    )


def patch_grid(encoder: Encoder, size: int | None = None) -> PatchGrid:
    """How a ViT cuts its images; `UsageError` unless views of `size` pixels are such images."""
    embed = vit_of(encoder).patch_embed
    (height, width), (side, other_side) = embed.img_size, embed.patch_size
    if side != other_side:
        raise UsageError(
            f"encoder.options.patch_size: patches must be square, not {side} × {other_side}"
        )
    if size is not None and (height, width) != (size, size):
        raise other_size(size, (height, width))
    check_patches((height, width), (side, side))
    pooling = vit_of(encoder).global_pool
    if pooling in _NO_POOLING:
        raise UsageError(
            f"encoder.options.global_pool: masked methods need features without weights of their "
            f"own, the mean of the tokens (avg) or the class token (token), not '{pooling}'"
        )
    if not isinstance(vit_of(encoder).patch_drop, nn.Identity):
        raise UsageError(
            "encoder.options.patch_drop_rate: masked methods hide patches themselves; leave it out"
        )
    return PatchGrid(side, height // side, width // side)


def visible_tokens(encoder: Encoder, patches: Tensor, mask: PatchMask) -> Tensor:
    """Tokens (N, prefix + V, C) of the visible patches (N, V, P) after the last norm.

    The class token and registers come first, as in timm. This is `forward_features` of timm on
    fewer patches; with none hidden, the result is the same.
    """
    vit = vit_of(encoder)
    tokens = vit.norm_pre(vit.pos_drop(_embedded(vit, patches, mask.visible)))
    if vit.grad_checkpointing:
        tokens = checkpoint_seq(vit.blocks, tokens)
    else:
        tokens = vit.blocks(tokens)
    normed: Tensor = vit.norm(tokens)
    return normed


def _embedded(vit: VisionTransformer, patches: Tensor, visible: Tensor) -> Tensor:
    """Prefix tokens and the patches (N, V, P) with their positions, (N, prefix + V, C).

    timm embeds all patches by a convolution; a linear layer on the visible ones is the same.
    """
    embed, count = vit.patch_embed, len(patches)
    kernel = embed.proj.weight.permute(0, 2, 3, 1).flatten(1)  # (C, P), no copy if channels last
    tokens = embed.norm(token_linear(patches, kernel, embed.proj.bias))
    with_positions = 0 if vit.no_embed_class else vit.num_prefix_tokens
    tokens = tokens + F.embedding(visible, vit.pos_embed[0, with_positions:])
    first = [token for token in (vit.cls_token, vit.reg_token) if token is not None]
    if not first:
        return tokens
    prefix = torch.cat(first, dim=1).expand(count, -1, -1)
    if with_positions:
        prefix = prefix + vit.pos_embed[:, :with_positions]
    return torch.cat([prefix.to(tokens.dtype), tokens], dim=1)


def pooled(encoder: Encoder, tokens: Tensor) -> Tensor:
    """Features (N, dim) of tokens (N, prefix + V, C), pooled as the encoder pools whole images."""
    features: Tensor = vit_of(encoder).forward_head(tokens)
    return features


def check_norm(encoder: Encoder) -> None:
    """Raise `UsageError` for a ViT whose last norm comes after pooling, so tokens lack it."""
    if isinstance(vit_of(encoder).norm, nn.Identity):
        raise UsageError(
            "encoder.options: a decoder reads the tokens after the last norm, which this encoder "
            "has after pooling; add fc_norm: false"
        )
