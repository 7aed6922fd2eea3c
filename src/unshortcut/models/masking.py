"""Random masks of patches: which of them an encoder sees (MAE, He et al., section 3)."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from unshortcut.errors import UsageError


class PatchMask(NamedTuple):
    """The patches of N images that are seen and those that are hidden, both in ascending order."""

    visible: Tensor
    """(N, V) indices of patches."""
    hidden: Tensor
    """(N, L - V) indices of patches."""

    def is_hidden(self) -> Tensor:
        """(N, L) bool: which patches are hidden."""
        count = self.visible.shape[1] + self.hidden.shape[1]
        seen = self.visible.new_zeros((len(self.visible), count), dtype=torch.bool)
        return seen.scatter(1, self.hidden, True)


def mask_lowest(scores: Tensor, num_visible: int) -> PatchMask:
    """Hide the patches of each image with the lowest of scores (N, L), all but `num_visible`."""
    order = scores.argsort(dim=1, descending=True)
    visible, hidden = order[:, :num_visible], order[:, num_visible:]
    # Tokens have no order in a transformer; ascending indices make a ratio of 0 the whole image.
    return PatchMask(visible.sort(dim=1).values, hidden.sort(dim=1).values)


def count_visible(num_patches: int, ratio: float) -> int:
    """The number of patches that stay visible, rounded down as in MAE's code.

    Raises `UsageError` if none would stay.
    """
    # A tolerance for products such as 100 · (1 - 0.9), which are just below the integer.
    visible = int(num_patches * (1 - ratio) + 1e-9)
    if visible < 1:
        raise UsageError(
            f"method.mask_ratio {ratio:g} leaves none of the {num_patches} patches of an image "
            f"visible; it must be at most {math.floor(1000 - 1000 / num_patches) / 1000:g}"
        )
    return visible
