"""Several gloo ranks: `on_ranks(2, work)` returns what `work` returned on each of them."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def on_ranks(world: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The results of `work(rank, world, *arguments)`; one rank is this process, without a group.

    `work` is a function of a module, so that other processes find it.
    """
    if world == 1:
        return [work(0, 1, *arguments)]
    with tempfile.TemporaryDirectory() as folder:
        # A fork server imports torch once for all cases (conftest.py), a spawn for each.
        mp.start_processes(
            _process, args=(world, folder, work, arguments), nprocs=world, start_method="forkserver"
        )
        return [torch.load(Path(folder) / f"{r}.pt", weights_only=False) for r in range(world)]


def _process(
    rank: int, world: int, folder: str, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    torch.set_num_threads(1)
    meet = f"file://{folder}/meet"
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=world)
    try:
        torch.save(work(rank, world, *arguments), Path(folder) / f"{rank}.pt")
    finally:
        dist.destroy_process_group()
