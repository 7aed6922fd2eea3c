"""Fixed positions of a ViT's tokens: sines and cosines of their row and column."""

import torch
from timm.layers import build_sincos2d_pos_embed
from torch import Tensor

from unshortcut.errors import UsageError


def sincos_positions(rows: int, columns: int, width: int, prefix: int = 0) -> Tensor:
    """Positions (1, prefix + rows · columns, width); 0 for prefix tokens such as the class token.

    timm's table, which has the channels of MAE's in another order.
    """
    if width % 4:
        raise UsageError(
            f"encoder.positions: sincos needs a width that is a multiple of 4, not {width}"
        )
    table = build_sincos2d_pos_embed([rows, columns], width)
    return torch.cat([table.new_zeros(prefix, width), table])[None]
