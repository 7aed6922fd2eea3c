"""What contrastive methods share: queries against positives and sources of negatives."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.losses.loss import AnyLoss, ContrastiveLoss
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.models.encoder import Encoder
from unshortcut.negatives.alpha import WeighedSettings
from unshortcut.negatives.source import Contrast, Negatives, Sources, view_transforms_of
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


class ContrastiveSettings(MethodSettings):
    """Settings with an loss and sources of negatives."""

    query_views: ClassVar[tuple[str, ...]] = ("query",)
    """The views that are queries, each with a positive of its own."""
    has_spaces: ClassVar[bool] = False
    """Whether queries are compared in several spaces, with a key each."""
    dim: int
    loss: AnyLoss
    negatives: Negatives

    def view_transforms(self) -> dict[str, ViewTransform]:
        asked = view_transforms_of(self.negatives, self.query_views)
        return {"query": Augmented(), "key": Augmented(), **asked}

    def check(self, images: int, sync_batch_norm: bool) -> None:
        present = [source for source in self.negatives if not source.absent]
        if isinstance(self.loss, ContrastiveLoss) and not present:
            raise UsageError(
                f"method.negatives is empty, or every alpha in it is 0: {self.loss.name} has "
                "nothing to tell a positive from"
            )
        for source in present:
            if source.needs_spaces and not self.has_spaces:
                raise UsageError(
                    f"method.negatives: '{source.name}' is for methods with several spaces, such "
                    f"as looc; {self.name} has one key an image"
                )
            if isinstance(source, WeighedSettings):
                self.loss.weigh(torch.zeros(1, 1), 1.0, source.placement)


class ContrastiveMethod(Method):
    """A method whose loss compares queries with their positives and with sources of negatives."""

    settings: ContrastiveSettings
    head: nn.Module
    """From features to embeddings, which the method builds as it needs it."""

    def __init__(
        self, encoder: Encoder, settings: ContrastiveSettings, training: TrainingContext | None
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.sources = self.build_sources(self.training_context.seed)

    def build_sources(self, seed: int) -> Sources:
        """The sources of negatives, in which random beginnings depend on the seed."""
        return Sources(self.settings.negatives, self.settings.dim, seed)

    def embed(self, images: Tensor) -> Tensor:
        return F.normalize(self.head(self.encoder(images)), dim=1)

    @abstractmethod
    def encode_keys(self, images: Tensor) -> Tensor:
        """Images (N, 3, H, W) to unit embeddings (N, D) as the positives are encoded."""

    def compare(
        self, queries: Tensor, positives: Tensor, views: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The loss of each query and its similarity to its positive, (M,) both.

        queries and positives: (M, D) unit rows, a block of N rows for each of `query_views`.
        """
        return self.judge(self.contrast(queries, positives, views), self.sources)

    def contrast(self, queries: Tensor, positives: Tensor, views: Mapping[str, Tensor]) -> Contrast:
        """What sources of negatives see."""
        return Contrast(
            queries,
            positives,
            self.settings.query_views,
            views,
            self.encode_keys,
            self.settings.loss.weigh,
            self.step_generator,
            self.progress,
        )

    def judge(self, contrast: Contrast, sources: Sources) -> tuple[Tensor, Tensor]:
        """The loss of each query of a contrast and its similarity to its positive, (M,) both."""
        positive = (contrast.queries * contrast.positives).sum(dim=1)
        return self.settings.loss(positive, sources.similarities(contrast)), positive

    def after_backward(self) -> None:
        self.sources.after_backward()
