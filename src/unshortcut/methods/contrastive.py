"""The base of contrastive methods, which compare queries with positives and negatives."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.losses.loss import AnyLoss, ContrastiveLoss
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import DeviceBatch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.negatives.alpha import WeightedSettings
from unshortcut.negatives.own_image import OwnImageSettings
from unshortcut.negatives.source import ContrastStep, Negatives, Sources, view_transforms_of
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented

STRONG = 20.0
"""Alpha / temperature from which negatives of the query's own image are warned of. Inside the
exponential only this ratio counts; NSN has 2 / 0.2 and 3 / 0.2."""


class ContrastiveSettings(MethodSettings):
    """Settings with a loss and sources of negatives."""

    query_views: ClassVar[tuple[str, ...]] = ("query",)
    """Names of the views that are used as queries, each with its own positive."""
    has_spaces: ClassVar[bool] = False
    """Whether queries are compared in several spaces, each with its own key."""
    dim: int
    loss: AnyLoss
    negatives: Negatives

    def view_transforms(self) -> dict[str, ViewTransform]:
        needed = view_transforms_of(self.negatives, self.query_views)
        return {"query": Augmented(), "key": Augmented(), **needed}

    def check(self, batch: DeviceBatch) -> None:
        present = [source for source in self.negatives if not source.absent]
        if isinstance(self.loss, ContrastiveLoss) and not present:
            raise UsageError(
                f"method.negatives is empty, or every alpha in it is 0: the loss {self.loss.name} "
                "needs negatives"
            )
        for source in present:
            if source.needs_spaces and not self.has_spaces:
                raise UsageError(
                    f"method.negatives: '{source.name}' needs a method with several spaces, such "
                    f"as looc; {self.name} has one key per image"
                )
            if isinstance(source, WeightedSettings):
                self.loss.weigh(torch.zeros(1, 1), 1.0, source.placement)

    def warnings(self, batch: DeviceBatch) -> list[str]:
        if not isinstance(self.loss, ContrastiveLoss):
            return super().warnings(batch)
        temperature = self.loss.temperature
        strong = [
            (key, source)
            for key, sources in self.sources_by_key().items()
            for source in sources
            if isinstance(source, OwnImageSettings)
            and source.placement == "inside"
            and source.alpha / temperature >= STRONG
        ]
        return super().warnings(batch) + [
            f"method.{key}.{source.name}: alpha {source.alpha:g} at the temperature "
            f"{temperature:g} weighs exp({source.alpha / temperature:g} s); the papers have 10 to "
            "15 there, and much more can cost most of the accuracy: lower alpha, or raise "
            "method.loss.temperature"
            for key, source in strong
        ]

    def sources_by_key(self) -> dict[str, Negatives]:
        """All sources of negatives, by the key of the settings that lists them."""
        return {"negatives": self.negatives}


class ContrastiveMethod(Method):
    """A method whose loss compares queries with their positives and with negatives."""

    settings: ContrastiveSettings
    head: nn.Module

    def __init__(
        self, encoder: Encoder, settings: ContrastiveSettings, training: TrainingContext | None
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.sources = self.build_sources(self.training_context.seed)
        self.head = self.build_head()

    @abstractmethod
    def build_head(self) -> nn.Module:
        """The head, which maps features (N, C) to embeddings."""

    def build_sources(self, seed: int) -> Sources:
        """The sources of negatives; their random initial states depend on the seed."""
        return Sources(self.settings.negatives, self.settings.dim, seed)

    def embed(self, images: Tensor) -> Tensor:
        return F.normalize(self.head(self.encoder(images)), dim=1)

    @abstractmethod
    def encode_keys(self, images: Tensor) -> Tensor:
        """Encode images (N, 3, H, W) to unit embeddings (N, D) in the way positives are encoded."""

    def step_output(
        self, queries: Tensor, positives: Tensor, views: Mapping[str, Tensor]
    ) -> StepOutput:
        """The output of a step in which the queries themselves are the embeddings."""
        losses, positive = self.compare(queries, positives, views)
        metrics = {"positive_similarity": positive.detach().mean()}
        return StepOutput(losses.mean(), queries.detach(), metrics)

    def compare(
        self, queries: Tensor, positives: Tensor, views: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The loss of each query and its similarity to its positive, both (M,).

        queries and positives: (M, D) unit rows, a block of N rows for each of `query_views`.
        """
        return self.query_losses(self.contrast_step(queries, positives, views), self.sources)

    def contrast_step(
        self, queries: Tensor, positives: Tensor, views: Mapping[str, Tensor]
    ) -> ContrastStep:
        """The input of the sources of negatives."""
        return ContrastStep(
            queries,
            positives,
            self.settings.query_views,
            views,
            self.encode_keys,
            self.settings.loss.weigh,
            self.step_generator,
            self.progress,
        )

    def query_losses(self, step: ContrastStep, sources: Sources) -> tuple[Tensor, Tensor]:
        """The loss of each query and its similarity to its positive, both (M,)."""
        positive = (step.queries * step.positives).sum(dim=1)
        return self.settings.loss(positive, sources.similarities(step)), positive

    def after_backward(self) -> None:
        self.sources.after_backward()
