"""Patch tiling compared with a loop over patches in torch, and with creating the view it tiles."""

from collections.abc import Sequence
from itertools import count

import numpy as np
import torch
from torch import Tensor

from benchmarks.common import alternate
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.data.decode import EncodedImage
from unshortcut.imaging.tiling import sample_tiles
from unshortcut.imaging.tiling_batch import tile_patches_batch
from unshortcut.randomness import generator
from unshortcut.recipes.load import load_recipe

BATCH = 64
ROUNDS = 9
SIDE, SMALLEST, LARGEST = 224, 16, 72


def figures(photos: Sequence[np.ndarray], encoded: Sequence[bytes]) -> dict[str, float]:
    """`photos` are uint8 (224, 224, 3), `encoded` JPEG files.

    `tiling_vs_loop` uses views as the loader returns them, channels-last uint8 (n, 3, h, w);
    `tiling_vs_loop_float` contiguous float32, where moving memory takes most of the time. Both
    sides write to preallocated memory, so that allocation is not timed.
    """
    views = torch.from_numpy(np.stack(photos)).permute(0, 3, 1, 2)
    return {
        "tiling_vs_loop": _versus_loop(views),
        "tiling_vs_loop_float": _versus_loop(views.contiguous().float() / 255),
        "tiling_share_of_view": _share_of_view(encoded),
    }


def loop(images: Tensor, out: Tensor) -> Tensor:
    """Tile (n, 3, 224, 224) by slicing and concatenating one patch at a time."""
    tiled = []
    for image in images:
        side = int(torch.randint(SMALLEST, LARGEST + 1, ()))
        rows = []
        for _ in range(-(-SIDE // side)):
            row = []
            for _ in range(-(-SIDE // side)):
                top = int(torch.randint(0, SIDE - side + 1, ()))
                left = int(torch.randint(0, SIDE - side + 1, ()))
                row.append(image[:, top : top + side, left : left + side])
            rows.append(torch.cat(row, dim=2))
        tiled.append(torch.cat(rows, dim=1)[:, :SIDE, :SIDE])
    return torch.stack(tiled, out=out)


def _versus_loop(views: Tensor) -> float:
    """Time of the loop divided by that of the batch function, both including sampling."""
    torch.manual_seed(0)
    rng = generator(0, "tiling")
    batches = views.split(BATCH)
    made, looped = torch.empty_like(batches[0]), torch.empty_like(batches[0])

    def ours(item: int) -> Tensor:
        images = batches[item]
        tiles = sample_tiles(rng, SIDE, SIDE, patch=(SMALLEST, LARGEST), count=len(images))
        return tile_patches_batch(images, tiles, out=made)

    return alternate(ours, lambda item: loop(batches[item], looped), len(batches), ROUNDS).ratio


def _share_of_view(encoded: Sequence[bytes]) -> float:
    """Time of the augmentation `patch_tiling` divided by that of MoCo-v2's query view of a JPEG."""
    pipeline = load_recipe("moco-v2-imagenet").view_plan().pipelines["query"]
    tiling = make_augmentation("patch_tiling", {"size": SIDE})
    calls = count()
    rng = generator(0, "share")
    newest = np.zeros((SIDE, SIDE, 3), np.uint8)

    def make_view(item: int) -> None:
        nonlocal newest
        image = EncodedImage(encoded[item])
        params = pipeline.sample(generator(0, next(calls), item), image.height, image.width)
        newest = pipeline.apply(image.pixels(pipeline.shrink(params)), params)

    def tile(item: int) -> np.ndarray:
        return tiling.apply(newest, tiling.sample(rng, SIDE, SIDE))

    return 1 / alternate(tile, make_view, len(encoded), ROUNDS).ratio
