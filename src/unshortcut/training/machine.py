"""Where a run runs: how many processes share it, on how many machines, which of them writes."""

import os
from dataclasses import dataclass

import torch
from lightning.pytorch.strategies import DDPStrategy, Strategy

from unshortcut.errors import UsageError


@dataclass(frozen=True)
class Machine:
    """Processes of a run."""

    devices: int
    """On each machine."""
    nodes: int
    is_first: bool
    """Whether this process writes; the others were started by it, by torchrun or by SLURM."""

    @property
    def world(self) -> int:
        return self.devices * self.nodes

    def check_shares(self, batch_size: int, accumulate: int) -> None:
        """Refuse a batch that cannot be shared evenly."""
        parts = self.world * accumulate
        if batch_size % parts:
            raise UsageError(
                f"data.batch_size {batch_size} must be a multiple of devices × "
                f"training.accumulate = {parts}"
            )

    def strategy(self) -> str | Strategy:
        if self.world == 1:
            return "auto"
        # Queues are equal on all ranks by construction; sending them each step would be waste.
        return DDPStrategy(broadcast_buffers=False)

    def workers(self) -> int:
        """Processes for views, each process of the run: most cores feed an accelerator.

        Where the cores themselves train, one process for views in four cores and at least one,
        unless there is but one core: then views are made in between.
        """
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        own = (cores or 1) // self.devices
        if own == 1:
            return 0
        return min(12, own - 1) if torch.cuda.is_available() else max(1, own // 4)


def find_machine(devices: int) -> Machine:
    """The processes of this run: as torchrun or SLURM set them up, or else `devices` of our own."""
    environment = os.environ
    first = all(int(environment.get(k, 0)) == 0 for k in ("RANK", "LOCAL_RANK", "SLURM_PROCID"))
    if "TORCHELASTIC_RUN_ID" in environment:
        here = int(environment["LOCAL_WORLD_SIZE"])
        return Machine(here, int(environment["WORLD_SIZE"]) // here, first)
    return Machine(devices, int(environment.get("SLURM_NNODES", 1)), first)
