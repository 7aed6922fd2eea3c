"""SimCLR: two views of an image are compared with all other views of the batch (Chen et al.)."""

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from unshortcut.fields import PositiveInt
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.contrastive import ContrastiveMethod, ContrastiveSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.batchnorm import running_statistics_kept
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.source import Negatives
from unshortcut.parts import settings


@settings
class SimCLRSettings(ContrastiveSettings):
    """Settings of SimCLR; the defaults are those published."""

    name = "simclr"
    query_views: ClassVar[tuple[str, ...]] = ("query", "key")

    hidden: PositiveInt = 2048
    """Width of the head's hidden layer."""
    dim: PositiveInt = 128
    """Dimension of the embedding."""
    head_batch_norm: bool | Literal["hidden"] = True
    """Batch norm after both layers of the head, as in the official code.

    With `hidden` it is after the hidden layer only, and the last layer has a bias, as in the code
    of the debiased loss (Chuang et al.).
    """
    loss: AnyLoss = InfoNCE(temperature=0.1)
    negatives: Negatives = (BatchSettings(),)
    negative_gradient: bool = False
    """Whether gradients flow through negatives that are views of their own (patch, texture)."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "SimCLR":
        return SimCLR(encoder, self, training)


class SimCLR(ContrastiveMethod):
    """One encoder for both views; each is the other's positive, so N images give 2N queries."""

    settings: SimCLRSettings

    def build_head(self) -> nn.Module:
        dims = self.encoder.dim, self.settings.hidden, self.settings.dim
        norm = self.settings.head_batch_norm
        return MLPHead(*dims, batch_norm=norm, last_bias=norm == "hidden")

    def loss(self, batch: Batch) -> StepOutput:
        views = batch.views
        queries = self.embed(torch.cat([views["query"], views["key"]]))  # (2N, D)
        positives = queries.roll(len(queries) // 2, dims=0)  # the other view of each
        return self.step_output(queries, positives, views)

    def encode_keys(self, images: Tensor) -> Tensor:
        """Encode with the encoder itself, whose running statistics stay those of the views."""
        learns = self.settings.negative_gradient and torch.is_grad_enabled()
        with torch.set_grad_enabled(learns), running_statistics_kept(self):
            return self.embed(images)
