"""SimCLR: two views of an image against all other views of the batch (Chen et al.)."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.methods.method import Loss, Method, MethodSettings, Training
from unshortcut.methods.negatives.batch import BatchSettings
from unshortcut.methods.negatives.source import Contrast, Negatives, Sources, view_makers_of
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.objectives.info_nce import InfoNCE
from unshortcut.objectives.objective import AnyObjective
from unshortcut.views.maker import ViewMaker
from unshortcut.views.makers.augmented import Augmented


@dataclass(frozen=True)
class SimCLRSettings(MethodSettings):
    """SimCLR as published, by default."""

    name = "simclr"

    hidden: int = 2048
    """Width of the head's hidden layer."""
    dim: int = 128
    """Width of the embedding."""
    head_batch_norm: bool = True
    """Batch norm in the head, as in the official code."""
    objective: AnyObjective = InfoNCE(temperature=0.1)  # noqa: RUF009 (frozen)
    negatives: Negatives = (BatchSettings(),)

    def build(self, encoder: Encoder, training: Training | None = None) -> "SimCLR":
        return SimCLR(encoder, self, training)

    def view_makers(self) -> dict[str, ViewMaker]:
        return {"query": Augmented(), "key": Augmented(), **view_makers_of(self.negatives)}


class SimCLR(Method):
    """One encoder for both views; each is the other's positive, so N images make 2N queries."""

    def __init__(
        self, encoder: Encoder, settings: SimCLRSettings, training: Training | None = None
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.head = MLPHead(
            encoder.dim, settings.hidden, settings.dim, batch_norm=settings.head_batch_norm
        )
        seed = self.training_plan.seed
        self.sources = Sources(settings.negatives, settings.dim, seed)

    def loss(self, views: Mapping[str, Tensor]) -> Loss:
        queries = self.embed(torch.cat([views["query"], views["key"]]))  # (2N, D)
        positives = queries.roll(len(queries) // 2, dims=0)  # the other view of each

        contrast = Contrast(queries, positives, copies=2, views=views, encode=self.embed_constant)
        positive = (queries * positives).sum(dim=1)
        negatives = self.sources.similarities(contrast)
        loss = self.settings.objective(positive, negatives).mean()
        return Loss(loss, queries.detach(), {"positive_similarity": positive.detach().mean()})

    def embed(self, images: Tensor) -> Tensor:
        """Images (N, 3, H, W) to unit embeddings (N, D)."""
        return F.normalize(self.head(self.encoder(images)), dim=1)

    @torch.no_grad()
    def embed_constant(self, images: Tensor) -> Tensor:
        """As `embed`, without a gradient: for negatives that only push."""
        return self.embed(images)

    def after_backward(self) -> None:
        self.sources.after_backward()
