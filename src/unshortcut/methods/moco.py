"""MoCo-v2: a query against its key among the keys of the past (He et al.; Chen et al.).

The step, in order: encode queries; move the key encoder; encode keys, dealt so that batch norm
does not leak; compare with the old queue; after the backward pass, enqueue the keys.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.contrastive import ContrastiveMethod, ContrastiveSettings
from unshortcut.methods.method import Batch, StepOutput, TrainingContext
from unshortcut.models.batchnorm import KeyShuffle, split_batch_norm
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.models.momentum import MomentumCopy
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.source import Negatives
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.leave_one_out import Sharing


@dataclass(frozen=True)
class MoCoSettings(ContrastiveSettings):
    """MoCo-v2 as published, by default."""

    name = "moco"

    momentum: Annotated[float, Field(ge=0, le=1)] = 0.999
    """Of the key encoder."""
    hidden: int = 2048
    """Width of the head's hidden layer."""
    dim: int = 128
    """Width of the embedding."""
    head_batch_norm: bool = False
    """Batch norm in the head, as in MoCo-v3; small encoders learn far sooner with it."""
    loss: AnyLoss = InfoNCE(temperature=0.2)  # noqa: RUF009 (frozen)
    negatives: Negatives = (QueueSettings(),)
    batch_norm_groups: Annotated[int, Field(ge=1)] = 8
    """Groups of batch norm on each device, keys dealt between them; 1 leaves batch norm whole."""
    shared: tuple[str, ...] = ()
    """Names of augmentations whose draws a key takes from its query (LooC, table 1)."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "MoCo":
        return MoCo(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        key = Sharing(shares=self.shared) if self.shared else Augmented()
        return {**super().view_transforms(), "key": key}

    def check(self, images: int, sync_batch_norm: bool) -> None:
        super().check(images, sync_batch_norm)
        groups = self.batch_norm_groups
        if groups > 1 and sync_batch_norm:
            raise UsageError(
                "training.sync_batch_norm would undo method.batch_norm_groups, which keep batch "
                "statistics from telling which key belongs to which query; set one of them off"
            )
        if groups > 1 and (images % groups or images < 2 * groups):
            raise UsageError(
                f"method.batch_norm_groups {groups} must divide the images that a device sees at "
                f"a time, {images}, into groups of two or more"
            )


class MoCo(ContrastiveMethod):
    """A query encoder that learns, a key encoder that follows it, and sources of negatives."""

    settings: MoCoSettings

    def __init__(
        self, encoder: Encoder, settings: MoCoSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        self.head = self.build_head()
        if settings.batch_norm_groups > 1:
            split_batch_norm(encoder, settings.batch_norm_groups)
            split_batch_norm(self.head, settings.batch_norm_groups)
        self.key_network = MomentumCopy(self.query_network)

    def build_head(self) -> nn.Module:
        """From features (N, C) to embeddings."""
        return self.mlp(self.encoder.dim)

    def mlp(self, width: int) -> MLPHead:
        """A head as the settings have it, for features of a width."""
        settings = self.settings
        return MLPHead(width, settings.hidden, settings.dim, batch_norm=settings.head_batch_norm)

    @property
    def query_network(self) -> nn.Module:
        """Encoder and head, which share their parameters with this method."""
        return nn.Sequential(self.encoder, self.head)

    def loss(self, batch: Batch) -> StepOutput:
        queries = self.embed(batch.views["query"])  # (N, D)
        if self.starts_step:
            self.key_network.update(self.query_network, self.settings.momentum)
        keys = self.encode_keys(batch.views["key"])  # (N, D)

        losses, positive = self.compare(queries, keys, batch.views)
        metrics = {"positive_similarity": positive.detach().mean()}
        return StepOutput(losses.mean(), queries.detach(), metrics)

    @torch.no_grad()
    def encode_keys(self, images: Tensor) -> Tensor:
        """As keys: (N, 3, H, W) to unit embeddings (N, …, D), dealt between groups and restored."""
        shuffle = KeyShuffle(
            len(images), self.settings.batch_norm_groups, self.step_generator("deal")
        )
        embeddings = self.key_network(shuffle.shuffle(images))
        return shuffle.restore(F.normalize(embeddings, dim=-1))
