"""InsDis: every image a class of its own, remembered in a bank of embeddings (Wu et al.).

The step, in order: encode one view of each image; compare it with the image's own row of the
bank, the positive, and with rows drawn at random; after the backward pass, move the rows of the
batch toward the new embeddings.
"""

from dataclasses import dataclass
from typing import Annotated, cast

import torch
from pydantic import Field
from torch import Tensor

from unshortcut.distributed import gather
from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.contrastive import ContrastiveMethod, ContrastiveSettings
from unshortcut.methods.method import Batch, StepOutput, TrainingContext
from unshortcut.models.bank import MemoryBank
from unshortcut.models.batchnorm import running_statistics_kept
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.negatives.source import (
    Contrast,
    Negatives,
    NegativeSource,
    view_transforms_of,
)
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@dataclass(frozen=True)
class InsDisSettings(ContrastiveSettings):
    """InsDis as PyContrast has it, by default: a linear head and the loss of InfoNCE."""

    name = "insdis"

    dim: int = 128
    """Width of the embedding."""
    head_batch_norm: bool = False
    """Batch norm after the linear head; small encoders learn far sooner with it."""
    bank_negatives: Annotated[int, Field(ge=1)] = 65536
    """How many rows of the bank are drawn each step as negatives, for all queries together."""
    bank_momentum: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The share that a row of the bank keeps when its image is seen again."""
    loss: AnyLoss = InfoNCE(temperature=0.07)  # noqa: RUF009 (frozen)
    negatives: Negatives = ()
    """Sources of negatives besides the bank."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "InsDis":
        return InsDis(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented(), **view_transforms_of(self.negatives, self.query_views)}

    def check(self, images: int, sync_batch_norm: bool) -> None:
        if any(not source.absent for source in self.negatives):  # without them there is the bank
            super().check(images, sync_batch_norm)


class InsDis(ContrastiveMethod):
    """One encoder, one view; what the encoder said of the images before is in the bank."""

    settings: InsDisSettings

    def __init__(
        self, encoder: Encoder, settings: InsDisSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        self.head = MLPHead(
            encoder.dim, 0, settings.dim, layers=1, batch_norm=settings.head_batch_norm
        )
        plan = self.training_context
        bank = MemoryBank(plan.images, settings.dim, torch_seed(plan.seed, "bank"))
        self.sources.append(BankNegatives(bank, settings))

    @property
    def bank(self) -> "BankNegatives":
        """The last of the sources."""
        return cast(BankNegatives, self.sources[-1])

    def loss(self, batch: Batch) -> StepOutput:
        queries = self.embed(batch.views["query"])  # (N, D)
        positives = self.bank.positives(positions(batch))  # (N, D)
        losses, positive = self.compare(queries, positives, batch.views)
        metrics = {"positive_similarity": positive.detach().mean()}
        return StepOutput(losses.mean(), queries.detach(), metrics)

    @torch.no_grad()
    def encode_keys(self, images: Tensor) -> Tensor:
        """By the encoder itself; its running statistics remain those of views."""
        with running_statistics_kept(self):
            return self.embed(images)


class BankNegatives(NegativeSource):
    """The bank of InsDis: it gives positives and negatives, and takes in the new embeddings.

    The official code draws negatives for each query; here they are drawn once a step for the
    queries of all ranks, which makes them one matrix product. As there, they are drawn from all
    rows, with replacement, so that a query may meet its own row among them.
    """

    def __init__(self, bank: MemoryBank, settings: InsDisSettings) -> None:
        super().__init__()
        self.bank = bank
        self.settings = settings
        self._index: Tensor | None = None
        self._pending: Tensor | None = None

    def positives(self, index: Tensor) -> Tensor:
        """(N, D) rows of the images at the positions (N,), which are to be updated later."""
        self._index = index
        return self.bank.read(index)

    def similarities(self, contrast: Contrast) -> Tensor:
        self._pending = contrast.queries.detach()
        drawn = self.bank.sample(self.settings.bank_negatives, contrast.generator("bank"))
        return contrast.queries @ self.bank.read(drawn).T

    def after_backward(self) -> None:
        if self._index is not None and self._pending is not None:
            momentum = self.settings.bank_momentum
            self.bank.update(gather(self._index), gather(self._pending), momentum)
            self._index = self._pending = None


def positions(batch: Batch) -> Tensor:
    """(N,) which images a batch holds, without which there is no row of a bank to look up."""
    if batch.index is None:
        raise UsageError("a memory bank needs the positions of the images: a batch has no 'index'")
    return batch.index
