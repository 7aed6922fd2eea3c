"""Patch tiling of a batch of tensors: on a CPU by the compiled kernel, elsewhere by indexing."""

import torch
from torch import Tensor

from unshortcut.imaging.tiling import Tiles, copy_tiles

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""By bytes a sample: copying needs no more than the size of a type, so few kernels are compiled."""


def tile_patches_batch(images: Tensor, tiles: Tiles) -> Tensor:
    """The tilings (n, c, H, W) of images (n, c, h, w) of any type on any device.

    To the bit what `tile_patches` makes of each image with its own of the `tiles`.
    """
    if len(images) != len(tiles):
        raise ValueError(f"{len(images)} images have as many tilings, not {len(tiles)}")
    recorded = images.requires_grad and torch.is_grad_enabled()
    if images.device.type != "cpu" or images.element_size() not in _WORDS or recorded:
        return _by_index(images, tiles)
    if images.is_contiguous(memory_format=torch.channels_last):
        source = images.detach().permute(0, 2, 3, 1)
    else:
        source = images.detach().contiguous().flatten(0, 1)[..., None]
    target = source.new_empty((len(source), tiles.height, tiles.width, source.shape[3]))
    word = _WORDS[images.element_size()]
    copy_tiles(source.view(word).numpy(), tiles.sides, tiles.cells, target.view(word).numpy())
    if len(target) == len(images):
        return target.permute(0, 3, 1, 2)
    return target[..., 0].unflatten(0, images.shape[:2])


def _by_index(images: Tensor, tiles: Tiles) -> Tensor:
    """A gather of the number of each pixel, for all channels of an image the same."""
    device = images.device
    sides = torch.from_numpy(tiles.sides).to(device)[:, None]
    walks = torch.from_numpy(tiles.walks(images.shape[-1])).to(device)
    y = torch.arange(tiles.height, device=device)
    x = torch.arange(tiles.width, device=device)
    one = torch.arange(len(tiles), device=device)[:, None, None]
    cells = walks[one, (y // sides)[:, :, None], (x // sides)[:, None, :]]
    start, down, across = cells.unbind(-1)
    pixels = start + (y % sides)[:, :, None] * down + (x % sides)[:, None, :] * across
    index = pixels.flatten(1)[:, None].expand(-1, images.shape[1], -1)
    return images.flatten(2).gather(2, index).unflatten(2, (tiles.height, tiles.width))
