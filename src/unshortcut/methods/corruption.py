"""What masked methods do to images before they encode them: hide patches and add noise.

Masks and noise are drawn for the batch of all ranks, each image by its place in it, so that two
ranks hide and add what a single process would.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unshortcut.distributed import own_part, rank, world_size
from unshortcut.imaging.patches import PatchGrid, take
from unshortcut.models.masking import PatchMask, mask_lowest
from unshortcut.randomness import Key, torch_generator, torch_seed


@dataclass(frozen=True)
class Corruption:
    """What is done to N images before they are encoded."""

    mask: PatchMask
    noise: Tensor | None = None
    """(N, V, P), added to the visible patches of normalized images; None without noise."""
    noise_std: Tensor | None = None
    """(N,), the standard deviation of the noise of each image."""

    def seen(self, patches: Tensor) -> Tensor:
        """What the encoder sees of patches (N, L, P): the visible ones with their noise."""
        visible = take(patches, self.mask.visible)
        return visible if self.noise is None else visible + self.noise


def joined(parts: Sequence[Corruption]) -> Corruption:
    """The corruption of several batches of images, one after the other."""
    noise = [part.noise for part in parts if part.noise is not None]
    std = [part.noise_std for part in parts if part.noise_std is not None]
    mask = PatchMask(
        torch.cat([part.mask.visible for part in parts]),
        torch.cat([part.mask.hidden for part in parts]),
    )
    return Corruption(mask, torch.cat(noise) if noise else None, torch.cat(std) if std else None)


@dataclass(frozen=True)
class Corruptor:
    """Draws how images are corrupted: which patches stay visible, and what noise is added."""

    grid: PatchGrid
    num_visible: int
    noise_max: float | None = None
    """The largest standard deviation of the noise, in units of normalized pixels."""

    def draw(self, images: Tensor, *key: Key) -> Corruption:
        """Draw the corruption of this rank's images (N, 3, H, W) of a batch of all ranks.

        The standard deviation of an image's noise is uniform from 0 to `noise_max` (CAN).
        """
        count, total = len(images), len(images) * world_size()
        scores = torch.rand(total, self.grid.count, generator=torch_generator(*key, "mask"))
        mask = mask_lowest(own_part(scores), self.num_visible)
        mask = PatchMask(mask.visible.to(images.device), mask.hidden.to(images.device))
        if self.noise_max is None:
            return Corruption(mask)
        levels = torch.rand(total, generator=torch_generator(*key, "noise level"))
        std = (own_part(levels) * self.noise_max).to(images)
        places = range(rank() * count, (rank() + 1) * count)
        like = images.new_empty(count, self.num_visible, self.grid.values)
        unit = keyed_normal(like, [(*key, "noise", place) for place in places])
        return Corruption(mask, std[:, None, None] * unit, std)


def keyed_normal(like: Tensor, keys: Sequence[tuple[Key, ...]]) -> Tensor:
    """Normal random numbers of the shape and type of (N, …), the numbers of each row by its key.

    They are drawn on the device of the tensor, without the rows of other ranks.
    """
    drawn = torch.empty_like(like)
    source = torch.Generator(like.device)
    for row, key in zip(drawn, keys, strict=True):
        row.normal_(generator=source.manual_seed(torch_seed(*key)))
    return drawn
