"""The base of methods whose networks are updated in turn, each by an optimizer of its own."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from lightning.pytorch.core.optimizer import LightningOptimizer
from torch import Tensor, nn

from unshortcut.methods.method import Method, TrainingContext
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder


@dataclass
class Turn:
    """The loss of some networks, which are updated before the next turn begins."""

    networks: tuple[str, ...]
    loss: Tensor
    """Scalar; its gradient must not reach the parameters of other networks (`frozen`)."""
    metrics: dict[str, Tensor] = field(default_factory=dict)
    embeddings: Tensor | None = None


class AlternatingMethod(Method):
    """Updates its networks in the order of `turns`, in Lightning's manual optimization.

    One batch is one step of the run, however many optimizers there are: learning rates, logs and
    checkpoints count the updates of the first network of `networks`, which must have a turn in
    every batch.
    """

    def __init__(self, encoder: Encoder, training: TrainingContext | None) -> None:
        super().__init__(encoder, training)
        self.automatic_optimization = False

    @abstractmethod
    def networks(self) -> dict[str, tuple[nn.Module, OptimizerSettings]]:
        """The trained networks by name, each with the settings of its optimizer."""

    @abstractmethod
    def turns(self, batch: Batch) -> Iterator[Turn]:
        """The losses of a batch in order; what follows a turn sees the networks it has updated."""

    def optimized(self) -> Sequence[tuple[nn.Module, OptimizerSettings]]:
        return list(self.networks().values())

    def loss(self, batch: Batch) -> StepOutput:
        """The sum of all losses, without updates in between.

        Its gradient is the gradient of each network's own loss.
        """
        return _together(list(self.turns(batch)))

    def training_step(self, batch: Mapping[str, Any], batch_idx: int) -> Tensor:
        if self._trainer is None:  # there are no optimizers: a step is measured, or tested
            return super().training_step(batch, batch_idx)
        optimizers = dict(zip(self.networks(), self._optimizers(), strict=True))
        turns, read = [], self.read(batch)
        for turn in self.turns(read):
            for name in turn.networks:
                optimizers[name].zero_grad()
            self.manual_backward(turn.loss)
            for name in turn.networks:
                self._update(optimizers[name], counts=name == next(iter(optimizers)))
            turns.append(turn)
        self.last = _together(turns)
        self.log_last(len(read))
        super().on_after_backward()
        return self.last.loss.detach()

    def on_after_backward(self) -> None:
        # Lightning calls this after every backward pass, of which a batch has several.
        if self._trainer is None:
            super().on_after_backward()

    def _optimizers(self) -> list[LightningOptimizer]:
        found: Any = self.optimizers()
        return found if isinstance(found, list) else [found]

    def _update(self, optimizer: LightningOptimizer, counts: bool) -> None:
        """One step of an optimizer; Lightning counts those that are made by its own wrapper."""
        if counts:
            optimizer.step()
        else:
            self.trainer.strategy.optimizer_step(optimizer.optimizer, closure=_nothing)


@contextmanager
def frozen(network: nn.Module) -> Iterator[None]:
    """What is computed in this block has no gradient for the parameters of a network."""
    trained = [one for one in network.parameters() if one.requires_grad]
    for parameter in trained:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in trained:
            parameter.requires_grad_(True)


def _nothing() -> None:
    """A closure without a loss: the gradients are there already."""


def _together(turns: Sequence[Turn]) -> StepOutput:
    """The sum of the losses and all metrics of a batch."""
    total = torch.stack([turn.loss for turn in turns]).sum()
    metrics = {name: value for turn in turns for name, value in turn.metrics.items()}
    return StepOutput(total, turns[-1].embeddings, metrics)
