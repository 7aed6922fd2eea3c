"""Patch tiling of a batch of tensors: by the compiled kernel on a CPU, by indexing elsewhere."""

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.imaging.tiling import Tiles, copy_tiles

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""By element size: copying depends only on the size of a type, so few kernels are compiled."""


def tile_patches_batch(images: Tensor, tiles: Tiles, *, out: Tensor | None = None) -> Tensor:
    """Tile images (n, c, h, w) of any dtype on any device; returns (n, c, H, W).

    The result equals that of `tile_patches` for each image. `out` can be given to avoid allocating
    memory, which takes about as long as the tiling; it must have the images' dtype, device and
    memory format.
    """
    if len(images) != len(tiles):
        raise ValueError(f"{len(images)} images need as many tilings, not {len(tiles)}")
    shape = (*images.shape[:2], tiles.height, tiles.width)
    last = images.is_contiguous(memory_format=torch.channels_last)
    form = torch.channels_last if last else torch.contiguous_format
    if out is not None and (
        (out.shape, out.dtype, out.device) != (shape, images.dtype, images.device)
        or not out.is_contiguous(memory_format=form)
    ):
        raise ValueError(
            f"out must be {images.dtype} {shape} on {images.device}, in the images' memory format"
        )
    recorded = images.requires_grad and torch.is_grad_enabled()
    if images.device.type != "cpu" or images.element_size() not in _INTEGERS or recorded:
        tiled = _by_index(images, tiles)
        return tiled if out is None else out.copy_(tiled)
    if out is None:
        out = torch.empty(shape, dtype=images.dtype, memory_format=form)
    source = images.detach() if last else images.detach().contiguous()
    copy_tiles(_samples(source, last), tiles.sides, tiles.cells, _samples(out, last))
    return out


def _samples(images: Tensor, last: bool) -> NDArray[Any]:
    """The memory of a batch in the form that `copy_tiles` takes: images, or single planes."""
    integers = images.view(_INTEGERS[images.element_size()])
    return (integers.permute(0, 2, 3, 1) if last else integers.flatten(0, 1)[..., None]).numpy()


def _by_index(images: Tensor, tiles: Tiles) -> Tensor:
    """Gather pixels by index, with the same indices for all channels of an image."""
    device = images.device
    sides = torch.from_numpy(tiles.sides).to(device)[:, None]
    pixel_steps = torch.from_numpy(tiles.pixel_steps(images.shape[-1])).to(device)
    y = torch.arange(tiles.height, device=device)
    x = torch.arange(tiles.width, device=device)
    one = torch.arange(len(tiles), device=device)[:, None, None]
    cells = pixel_steps[one, (y // sides)[:, :, None], (x // sides)[:, None, :]]
    start, down, across = cells.unbind(-1)
    pixels = start + (y % sides)[:, :, None] * down + (x % sides)[:, None, :] * across
    index = pixels.flatten(1)[:, None].expand(-1, images.shape[1], -1)
    return images.flatten(2).gather(2, index).unflatten(2, (tiles.height, tiles.width))
