"""DenseCL: MoCo for whole images and for the cells of their feature maps (Wang et al., 2021).

The step is that of MoCo, with two heads on one forward pass of the encoder. The global loss is
MoCo's. The dense loss compares every cell of the query with one cell of the key, the one whose
encoder features are most similar, and with negatives: a queue that stores one embedding per image,
the mean over the cells of its key. The total is (1 − λ) · global + λ · dense.

All sources of negatives work in the global loss. In the dense loss there is always a queue, and
there may be negatives of the query's own image (`patch`, `texture`): the mean over the cells of
such an image is one further negative of all cells of the query, as the cells of shuffled patches
correspond to none of them. The other sources are refused there: `batch` and `regular` would compare
with single cells of other images, which the queue's means stand for, and `mixed_queue` would mix
thousands of keys for every cell.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import Probability
from unshortcut.methods.encoded import EncodedViews
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.batchnorm import KeyShuffle
from unshortcut.models.correspondence import most_similar_cells, take_cells
from unshortcut.models.dense_heads import (
    DenseEmbeddings,
    DenseHead,
    DenseNetwork,
    ImageAndDenseHeads,
)
from unshortcut.models.encoder import Encoder
from unshortcut.models.feature_maps import map_channels
from unshortcut.negatives.own_image import OwnImageSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.source import (
    ContrastStep,
    Negatives,
    NegativeSettings,
    Sources,
    view_transforms_of,
)
from unshortcut.parts import settings
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform


@settings
class DenseCLSettings(MoCoSettings):
    """Settings of DenseCL; the defaults are those published."""

    name = "densecl"

    dense_weight: Probability = 0.5
    """Weight λ of the dense loss; the global loss has 1 - λ."""
    dense_start: Probability = 0.0
    """The fraction of the training before which λ is 0."""
    dense_negatives: Negatives = (QueueSettings(),)
    """Sources of negatives in the dense loss: `queue`, and `patch` or `texture`."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "DenseCL":
        return DenseCL(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return self.with_dense_views(super().view_transforms(), self.query_views)

    def with_dense_views(
        self, of_both: dict[str, ViewTransform], query_views: Sequence[str]
    ) -> dict[str, ViewTransform]:
        """The views of the global loss, and those that only the dense loss needs."""
        for name, transform in view_transforms_of(self.dense_negatives, query_views).items():
            if of_both.setdefault(name, transform) != transform:
                raise UsageError(
                    f"method.negatives and method.dense_negatives have different views called "
                    f"'{name}'; give one of them another name with its key 'view'"
                )
        return of_both

    def check(self, batch: DeviceBatch) -> None:
        super().check(batch)
        present = [source for source in self.dense_negatives if not source.absent]
        if not any(_is_queue(source) for source in present):
            raise UsageError("method.dense_negatives must contain the source 'queue'")
        for source in present:
            if isinstance(source, OwnImageSettings):
                self.loss.weigh(torch.zeros(1, 1), 1.0, source.placement)
            elif not _is_queue(source):
                raise UsageError(
                    f"method.dense_negatives: '{source.name}' cannot be compared with single "
                    "cells; allowed are queue, patch and texture"
                )

    def sources_by_key(self) -> dict[str, Negatives]:
        return {**super().sources_by_key(), "dense_negatives": self.dense_negatives}

    def weight_at(self, progress: float) -> float:
        """λ after the fraction `progress` of the training."""
        return 0.0 if progress < self.dense_start else self.dense_weight


def _is_queue(source: NegativeSettings) -> bool:
    return type(source) is QueueSettings  # and not one that mixes its keys


class DenseKeys(NamedTuple):
    """Keys of N images, in the order of the images."""

    image: Tensor
    """(N, D), unit rows."""
    cells: Tensor
    """(N, S, D), unit rows."""
    mean: Tensor
    """(N, D), unit rows: the direction of the mean over cells, which are not normalized before."""
    features: Tensor
    """(N, S, C), the encoder's features of the cells."""


class DenseCL(MoCo):
    """MoCo with a second head, loss and queue for the cells of feature maps."""

    settings: DenseCLSettings
    head: ImageAndDenseHeads

    def __init__(
        self, encoder: Encoder, settings: DenseCLSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        seed = torch_seed(self.training_context.seed, "dense")
        self.dense_sources = Sources(settings.dense_negatives, settings.dim, seed)

    def build_head(self) -> nn.Module:
        settings = self.settings
        widths = map_channels(self.encoder), settings.hidden, settings.dim
        dense = DenseHead(*widths, batch_norm=settings.head_batch_norm)
        return ImageAndDenseHeads(self.mlp(self.encoder.dim), dense)

    # `cached_property` does not register it as a module, so every weight has one name.
    @cached_property
    def query_network(self) -> DenseNetwork:
        """Encoder and heads, which share their parameters with this method."""
        return DenseNetwork(self.encoder, self.head)

    @property
    def joint_networks(self) -> tuple[nn.Module, ...]:
        return self.query_network, self.key_network.network

    def embed(self, images: Tensor) -> Tensor:
        """Unit embeddings (N, D) of whole images."""
        return F.normalize(self.head.image(self.encoder(images)), dim=1)

    def loss(self, batch: Batch) -> StepOutput:
        embedded: DenseEmbeddings = self.query_network(batch.views["query"])
        if self.starts_step:
            self.key_network.update(self.query_network, self.settings.momentum)
        keys = EncodedViews(self.encode_dense_keys, batch.views)
        whole = self.contrast_step(
            F.normalize(embedded.image, dim=1), keys["key"].image, batch.views
        )
        total, metrics = self.dense_loss(
            whole, embedded, keys, "key", self.sources, self.dense_sources
        )
        return StepOutput(total, whole.queries.detach(), metrics)

    def dense_loss(
        self,
        whole: ContrastStep,
        embedded: DenseEmbeddings,
        keys: EncodedViews[DenseKeys],
        key_view: str,
        sources: Sources,
        dense_sources: Sources,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """(1 − λ) · global + λ · dense of one view as the query, and the metrics of both.

        Args:
            whole: the comparison of whole images; `query_views` names the one view of the queries.
            embedded: the queries.
        """
        whole = replace(whole, encode=lambda images: keys.of(images).image)
        image_losses, positive = self.query_losses(whole, sources)
        cells = self._dense_step(whole, embedded, keys, key_view)
        cell_losses, dense_positive = self.query_losses(cells, dense_sources)

        of_images, of_cells = image_losses.mean(), cell_losses.mean()
        weight = self.settings.weight_at(self.progress)
        metrics = {
            "positive_similarity": positive.detach().mean(),
            "dense_positive_similarity": dense_positive.detach().mean(),
            "loss_global": of_images.detach(),
            "loss_dense": of_cells.detach(),
        }
        return (1 - weight) * of_images + weight * of_cells, metrics

    def _dense_step(
        self,
        whole: ContrastStep,
        embedded: DenseEmbeddings,
        keys: EncodedViews[DenseKeys],
        key_view: str,
    ) -> ContrastStep:
        """Every cell is a query: S queries per image, a block of N rows for each cell."""
        key = keys[key_view]
        matched = most_similar_cells(embedded.features, key.features)  # (N, S)
        return replace(
            whole,
            queries=_by_cell(F.normalize(embedded.cells, dim=2)),
            positives=_by_cell(take_cells(key.cells, matched)),
            query_views=whole.query_views * matched.shape[1],
            encode=lambda images: keys.of(images).mean,
            enqueued=key.mean,
        )

    def encode_keys(self, images: Tensor) -> Tensor:
        return self.encode_dense_keys(images).image

    @torch.no_grad()
    def encode_dense_keys(self, images: Tensor) -> DenseKeys:
        """Encode images (N, 3, H, W), shuffled between groups, with the key network."""
        groups = self.settings.batch_norm_groups
        shuffle = KeyShuffle(len(images), groups, self.step_generator("deal"))
        shuffled: DenseEmbeddings = self.key_network.network(shuffle.shuffle(images))
        image, cells, features = (shuffle.restore(part) for part in shuffled)
        return DenseKeys(
            F.normalize(image, dim=1),
            F.normalize(cells, dim=2),
            F.normalize(cells.mean(dim=1), dim=1),
            features,
        )

    def after_backward(self) -> None:
        super().after_backward()
        self.dense_sources.after_backward()


def _by_cell(rows: Tensor) -> Tensor:
    """(N, S, D) to (S · N, D)."""
    return rows.transpose(0, 1).flatten(0, 1)
