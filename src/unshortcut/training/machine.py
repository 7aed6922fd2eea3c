"""The processes of a run: how many there are, on how many machines, and which of them writes."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.strategies import DDPStrategy, Strategy

from unshortcut.errors import UsageError


@dataclass(frozen=True)
class Machine:
    """The processes that share a run."""

    devices: int
    """Devices on each machine."""
    nodes: int
    is_first: bool
    """Whether this process writes files; it, torchrun or SLURM has started the others."""

    @property
    def world_size(self) -> int:
        return self.devices * self.nodes

    def check_batch(self, batch_size: int, accumulate: int) -> None:
        """Raise `UsageError` for a batch that cannot be divided evenly."""
        parts = self.world_size * accumulate
        if batch_size % parts:
            raise UsageError(
                f"data.batch_size {batch_size} must be a multiple of devices × "
                f"training.accumulate = {parts}"
            )

    def strategy(self, in_turn: bool = False) -> str | Strategy:
        """How ranks share a step; `in_turn`: each backward pass reaches only some parameters."""
        if self.world_size == 1:
            return "auto"
        # Queues are equal on all ranks by construction and need not be sent in each step.
        return DDPStrategy(broadcast_buffers=False, find_unused_parameters=in_turn)

    def default_workers(self) -> int:
        """Number of worker processes that make views, per process of the run.

        With an accelerator, most cores make views. On a CPU one core in four does, at least one;
        with a single core there are no workers.
        """
        own = available_cores() // self.devices
        if own == 1:
            return 0
        return min(12, own - 1) if torch.cuda.is_available() else max(1, own // 4)


def available_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hardware(machine: Machine) -> dict[str, Any]:
    """What the bits of a result depend on: processor, its instructions, threads and devices."""
    found = {"processor": _processor(), "instructions": torch.backends.cpu.get_cpu_capability()}
    if torch.cuda.is_available():
        found["accelerator"] = torch.cuda.get_device_name()
    return {**found, "threads": torch.get_num_threads(), "devices": machine.world_size}


def _processor() -> str:
    """The name of the processor, as the system states it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not on Linux
    return platform.processor() or platform.machine()


def find_machine(devices: int) -> Machine:
    """The processes of this run: those of torchrun or SLURM, or else `devices` of our own."""
    environment = os.environ
    first = all(int(environment.get(k, 0)) == 0 for k in ("RANK", "LOCAL_RANK", "SLURM_PROCID"))
    if "TORCHELASTIC_RUN_ID" in environment:
        here = int(environment["LOCAL_WORLD_SIZE"])
        return Machine(here, int(environment["WORLD_SIZE"]) // here, first)
    return Machine(devices, int(environment.get("SLURM_NNODES", 1)), first)
