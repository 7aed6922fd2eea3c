"""InsDis: instance discrimination with a memory bank of embeddings (Wu et al.).

A step encodes one view of each image and compares it with the image's own row of the bank, the
positive, and with random rows. After the backward pass, the images' rows move toward the new
embeddings.
"""

from typing import cast

import torch
from torch import Tensor

from unshortcut.distributed import gather
from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt, Probability
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.contrastive import ContrastiveMethod, ContrastiveSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.bank import MemoryBank
from unshortcut.models.batchnorm import running_statistics_kept
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.negatives.source import ContrastStep, Negatives, NegativeSource, view_transforms_of
from unshortcut.parts import settings
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class InsDisSettings(ContrastiveSettings):
    """Settings of InsDis; the defaults are PyContrast's, with a linear head and InfoNCE."""

    name = "insdis"

    dim: PositiveInt = 128
    """Dimension of the embedding."""
    head_batch_norm: bool = False
    """Whether batch norm follows the linear head; small encoders learn much faster with it."""
    bank_negatives: PositiveInt = 65536
    """Number of random rows of the bank that all queries of a step share as negatives."""
    bank_momentum: Probability = 0.5
    """Weight of the old row of the bank when its image is seen again."""
    loss: AnyLoss = InfoNCE(temperature=0.07)
    negatives: Negatives = ()
    """Sources of negatives in addition to the bank."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "InsDis":
        return InsDis(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented(), **view_transforms_of(self.negatives, self.query_views)}

    def check(self, batch: DeviceBatch) -> None:
        if any(not source.absent for source in self.negatives):  # otherwise there is the bank
            super().check(batch)


class InsDis(ContrastiveMethod):
    """One encoder, one view per image, and a bank of earlier embeddings of all images."""

    settings: InsDisSettings

    def __init__(
        self, encoder: Encoder, settings: InsDisSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        context = self.training_context
        bank = MemoryBank(context.num_images, settings.dim, torch_seed(context.seed, "bank"))
        self.sources.append(BankNegatives(bank, settings))

    def build_head(self) -> MLPHead:
        norm = self.settings.head_batch_norm
        return MLPHead(self.encoder.dim, 0, self.settings.dim, layers=1, batch_norm=norm)

    @property
    def bank(self) -> "BankNegatives":
        """The last source of negatives."""
        return cast(BankNegatives, self.sources[-1])

    def loss(self, batch: Batch) -> StepOutput:
        queries = self.embed(batch.views["query"])  # (N, D)
        positives = self.bank.positives(image_indices(batch))  # (N, D)
        return self.step_output(queries, positives, batch.views)

    @torch.no_grad()
    def encode_keys(self, images: Tensor) -> Tensor:
        """Encode with the encoder itself, whose running statistics stay those of the views."""
        with running_statistics_kept(self):
            return self.embed(images)


class BankNegatives(NegativeSource):
    """The bank of InsDis, which provides positives and negatives and stores the new embeddings.

    The official code samples negatives for each query; here they are sampled once per step for the
    queries of all ranks, which makes the similarities one matrix product. As there, they are
    sampled from all rows with replacement and may include the query's own row.
    """

    def __init__(self, bank: MemoryBank, settings: InsDisSettings) -> None:
        super().__init__()
        self.bank = bank
        self.settings = settings
        self._index: Tensor | None = None
        self._pending: Tensor | None = None

    def positives(self, index: Tensor) -> Tensor:
        """Rows (N, D) of the images with the indices (N,), which are updated after the step."""
        self._index = index
        return self.bank.read(index)

    def similarities(self, step: ContrastStep) -> Tensor:
        self._pending = step.queries.detach()
        sampled = self.bank.sample(self.settings.bank_negatives, step.generator("bank"))
        return step.queries @ self.bank.read(sampled).T

    def after_backward(self) -> None:
        if self._index is not None and self._pending is not None:
            momentum = self.settings.bank_momentum
            self.bank.update(gather(self._index), gather(self._pending), momentum)
            self._index = self._pending = None


def image_indices(batch: Batch) -> Tensor:
    """Indices (N,) of the images of a batch in the data set, which are rows of a bank."""
    if batch.index is None:
        raise UsageError("a memory bank needs the indices of the images: the batch has no 'index'")
    return batch.index
