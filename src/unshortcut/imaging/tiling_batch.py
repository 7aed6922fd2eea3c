"""Patch tiling of a batch of tensors: on a CPU by the compiled kernel, elsewhere by indexing."""

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.imaging.tiling import Tiles, copy_tiles

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""By bytes a sample: copying needs no more than the size of a type, so few kernels are compiled."""


def tile_patches_batch(images: Tensor, tiles: Tiles, *, out: Tensor | None = None) -> Tensor:
    """The tilings (n, c, H, W) of images (n, c, h, w) of any type on any device.

    To the bit what `tile_patches` makes of each image with its own of the `tiles`. `out` takes
    the result, which saves the time of getting new memory from the system, about that of the
    tiling; it has the images' type, device and memory format.
    """
    if len(images) != len(tiles):
        raise ValueError(f"{len(images)} images have as many tilings, not {len(tiles)}")
    shape = (*images.shape[:2], tiles.height, tiles.width)
    last = images.is_contiguous(memory_format=torch.channels_last)
    form = torch.channels_last if last else torch.contiguous_format
    if out is not None and (
        (out.shape, out.dtype, out.device) != (shape, images.dtype, images.device)
        or not out.is_contiguous(memory_format=form)
    ):
        raise ValueError(
            f"out must be {images.dtype} {shape} on {images.device}, stored as the images are"
        )
    recorded = images.requires_grad and torch.is_grad_enabled()
    if images.device.type != "cpu" or images.element_size() not in _WORDS or recorded:
        tiled = _by_index(images, tiles)
        return tiled if out is None else out.copy_(tiled)
    if out is None:
        out = torch.empty(shape, dtype=images.dtype, memory_format=form)
    source = images.detach() if last else images.detach().contiguous()
    copy_tiles(_samples(source, last), tiles.sides, tiles.cells, _samples(out, last))
    return out


def _samples(images: Tensor, last: bool) -> NDArray[Any]:
    """The memory of a batch as `copy_tiles` has it: images with pixels, or single planes."""
    words = images.view(_WORDS[images.element_size()])
    return (words.permute(0, 2, 3, 1) if last else words.flatten(0, 1)[..., None]).numpy()


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
