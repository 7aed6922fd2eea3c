"""BYOL: a network predicts a momentum copy's embedding of another view (Grill et al.).

The NSN paper (equation 2, appendix C.4) adds negatives: the prediction is pushed away from the
momentum copy's embedding of tiled patches of the same image.
"""

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.fields import PositiveInt, Probability
from unshortcut.losses.loss import AnyLoss
from unshortcut.losses.squared_distance import SquaredDistance
from unshortcut.methods.contrastive import ContrastiveMethod, ContrastiveSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.models.momentum import MomentumCopy
from unshortcut.negatives.source import Negatives
from unshortcut.parts import settings


@settings
class BYOLSettings(ContrastiveSettings):
    """Settings of BYOL; the defaults are those published for 300 epochs."""

    name = "byol"
    query_views: ClassVar[tuple[str, ...]] = ("query", "key")

    momentum: Probability = 0.99
    """Momentum of the copy at the start; it increases to 1 along a cosine."""
    hidden: PositiveInt = 4096
    """Width of the hidden layers of projector and predictor."""
    dim: PositiveInt = 256
    """Dimension of the embedding."""
    head_batch_norm: bool = True
    """Whether the hidden layers of projector and predictor have batch norm."""
    loss: AnyLoss = SquaredDistance()
    negatives: Negatives = ()

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "BYOL":
        return BYOL(encoder, self, training)


class BYOL(ContrastiveMethod):
    """A network with a predictor and a momentum copy without; each view predicts the other."""

    settings: BYOLSettings

    def __init__(
        self, encoder: Encoder, settings: BYOLSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        self.predictor = self._mlp(settings.dim)
        self.slow_network = MomentumCopy(self.network)

    @property
    def network(self) -> nn.Module:
        """Encoder and projector, which share their parameters with this method."""
        return nn.Sequential(self.encoder, self.head)

    def loss(self, batch: Batch) -> StepOutput:
        views = [batch.views[name] for name in self.settings.query_views]
        # Views are encoded one by one: batch statistics are those of a single view, as published.
        projections = [self.head(self.encoder(view)) for view in views]  # (N, D) each
        predictions = [F.normalize(self.predictor(one), dim=1) for one in projections]
        if self.starts_step:
            self.slow_network.update(self.network, self.momentum())
        targets = [self.encode_keys(view) for view in reversed(views)]

        losses, positive = self.compare(torch.cat(predictions), torch.cat(targets), batch.views)
        embeddings = F.normalize(torch.cat(projections).detach(), dim=1)
        metrics = {"positive_similarity": positive.detach().mean()}
        return StepOutput(len(views) * losses.mean(), embeddings, metrics)

    def momentum(self) -> float:
        """1 − (1 − τ)(1 + cos(πk/K))/2 at step k of K."""
        return 1 - (1 - self.settings.momentum) * (1 + math.cos(math.pi * self.progress)) / 2

    @torch.no_grad()
    def encode_keys(self, images: Tensor) -> Tensor:
        """Encode images (N, 3, H, W) with the momentum copy to unit embeddings (N, D)."""
        return F.normalize(self.slow_network(images), dim=1)

    def build_head(self) -> MLPHead:
        return self._mlp(self.encoder.dim)

    def _mlp(self, width: int) -> MLPHead:
        settings = self.settings
        norm: Literal["hidden", False] = "hidden" if settings.head_batch_norm else False
        return MLPHead(width, settings.hidden, settings.dim, batch_norm=norm)
