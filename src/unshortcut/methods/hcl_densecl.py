"""Hyperbolic contrastive learning on DenseCL: dense object views, and scenes with their objects.

The dissertation names DenseCL as a base of hyperbolic learning and gives no settings, so both parts
are as they are alone: the Euclidean loss is DenseCL's for two views of an object, in both
directions, each with two sets of negatives of its own; the hyperbolic loss is that of `hcl`, on the
output of DenseCL's head for whole images.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.losses.loss import in_float32
from unshortcut.methods.densecl import DenseCL, DenseCLSettings
from unshortcut.methods.encoded import EncodedViews
from unshortcut.methods.hcl import HCL, PAIR, HCLSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.dense_heads import DenseEmbeddings, DenseNetwork, ImageAndDenseHeads
from unshortcut.models.encoder import Encoder
from unshortcut.negatives.source import Sources
from unshortcut.parts import settings
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform


@settings
class HCLDenseCLSettings(HCLSettings, DenseCLSettings):
    """Settings of both methods."""

    name = "hcl_densecl"

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "HCLDenseCL":
        return HCLDenseCL(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        needed = HCLSettings.view_transforms(self)
        return self.with_dense_views(needed, PAIR) if self.euclidean_weight else needed


class HCLDenseCL(HCL, DenseCL):
    """DenseCL for objects in both directions, and a loss of scenes and objects in the ball."""

    settings: HCLDenseCLSettings
    head: ImageAndDenseHeads

    def __init__(
        self,
        encoder: Encoder,
        settings: HCLDenseCLSettings,
        training: TrainingContext | None = None,
    ) -> None:
        super().__init__(encoder, settings, training)
        seed = torch_seed(self.training_context.seed, "dense back")
        self.back_dense_sources = Sources(settings.dense_negatives, settings.dim, seed)
        if not settings.euclidean_weight:
            self.head.dense.requires_grad_(False)  # ranks would wait for its gradient

    def vectors(self, images: Tensor) -> Tensor:
        return in_float32(self.head.image(self.encoder(images)))

    def key_vectors(self, images: Tensor) -> Tensor:
        network = self.key_network.network
        assert isinstance(network, DenseNetwork)
        found: Tensor = network.heads.image(network.encoder(images))
        return found

    def encode_rows(self, images: Tensor) -> tuple[Tensor, ...]:
        """`DenseEmbeddings`; without the loss of objects, vectors alone."""
        if not self.settings.euclidean_weight:
            return super().encode_rows(images)
        found: DenseEmbeddings = self.query_network(images)
        return found

    def of_objects(
        self, batch: Batch, encoded: Mapping[str, tuple[Tensor, ...]]
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        queries = [DenseEmbeddings(*encoded[view]) for view in PAIR]
        keys = EncodedViews(self.encode_dense_keys, batch.views)
        losses: list[Tensor] = []
        metrics: list[dict[str, Tensor]] = []
        for view, key_view, embedded, sources, dense_sources in zip(
            PAIR,
            reversed(PAIR),
            queries,
            (self.sources, self.back_sources),
            (self.dense_sources, self.back_dense_sources),
            strict=True,
        ):
            unit = F.normalize(embedded.image, dim=1)
            whole = self.contrast_step(unit, keys[key_view].image, batch.views)
            whole = replace(whole, query_views=(view,))
            loss, found = self.dense_loss(whole, embedded, keys, key_view, sources, dense_sources)
            losses.append(loss)
            metrics.append(found)
        mean = torch.stack(losses).mean()
        means = {name: torch.stack([one[name] for one in metrics]).mean() for name in metrics[0]}
        embeddings = F.normalize(queries[0].image, dim=1).detach()
        return mean, embeddings, {**means, "loss_euclidean": mean.detach()}

    def after_backward(self) -> None:
        super().after_backward()
        self.back_dense_sources.after_backward()
