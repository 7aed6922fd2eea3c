"""The memory that a run takes on a device and its checkpoint on a disk, by arithmetic.

A method on torch's meta device has shapes and no values, so even a large one takes no memory here.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from unshortcut.methods.method import Method
from unshortcut.methods.optimization import OptimizerSettings, build_optimizer
from unshortcut.models.bank import MemoryBank
from unshortcut.models.queue import Queue


@dataclass(frozen=True)
class EmbeddingMemory:
    """A queue or memory bank of a method."""

    kind: str
    rows: int
    dim: int
    num_bytes: int


@dataclass(frozen=True)
class Footprint:
    """Bytes of a run's tensors; every device holds all of them. Activations are not included."""

    num_trained: int
    """Number of trained parameters."""
    trained: int
    """Bytes of the trained parameters; their gradients take as many."""
    frozen: int
    """Bytes of parameters without gradients: momentum copies, fixed positions of a ViT."""
    optimizer: int
    """Bytes of the optimizer's state."""
    memories: tuple[EmbeddingMemory, ...]
    checkpoint: int
    """Bytes of a checkpoint: all parameters and buffers, and the optimizer's state."""

    @property
    def device(self) -> int:
        """Bytes on each device, without activations."""
        memories = sum(memory.num_bytes for memory in self.memories)
        return 2 * self.trained + self.frozen + self.optimizer + memories


def footprint(method: Method) -> Footprint:
    """The footprint of a method, which may be on the meta device."""
    parameters = list(method.parameters())
    trained = [one for one in parameters if one.requires_grad]
    optimizer = sum(optimizer_bytes(module, settings) for module, settings in method.optimized())
    return Footprint(
        num_trained=sum(one.numel() for one in trained),
        trained=_bytes(trained),
        frozen=_bytes([one for one in parameters if not one.requires_grad]),
        optimizer=optimizer,
        memories=tuple(_memories(method)),
        checkpoint=_bytes(method.state_dict().values()) + optimizer,
    )


def optimizer_bytes(module: nn.Module, settings: OptimizerSettings) -> int:
    """Bytes of the state that an optimizer has after its first step.

    The step is made with parameters that have only shapes, so it works for any optimizer of timm;
    the module itself stays as it is.
    """
    shapes = torch.nn.ParameterDict()
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            copy = torch.nn.Parameter(torch.empty_like(parameter, device="meta"))
            copy.grad = torch.empty_like(copy)
            shapes[name.replace(".", "/")] = copy
    optimizer = build_optimizer(shapes, settings)
    optimizer.step()
    return _bytes(
        value
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, Tensor)
    )


def _memories(method: Method) -> list[EmbeddingMemory]:
    found = []
    for module in method.modules():
        if isinstance(module, Queue | MemoryBank) and module.rows is not None:
            kind = "queue" if isinstance(module, Queue) else "memory bank"
            rows, dim = module.rows.shape
            found.append(EmbeddingMemory(kind, rows, dim, _bytes([module.rows])))
    return found


def _bytes(tensors: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
