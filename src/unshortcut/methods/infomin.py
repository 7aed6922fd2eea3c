"""InfoMin: MoCo with strong augmentations and a second query made of jigsaw pieces (Tian et al.).

The augmentations are the recipe's; this is the branch. The pieces of the view `jigsaw` are encoded
one by one by the query encoder, joined by a head, and compared with the same keys and negatives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.models.batchnorm import running_statistics_kept, split_batch_norm
from unshortcut.models.encoder import Encoder
from unshortcut.models.jigsaw import JigsawHead, cut
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.jigsaw import GRID, Jigsaw


@dataclass(frozen=True)
class InfoMinSettings(MoCoSettings):
    """InfoMin as PyContrast has it, by default."""

    name = "infomin"

    loss: AnyLoss = InfoNCE(temperature=0.15)  # noqa: RUF009 (frozen)
    jigsaw_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Of the loss of the jigsaw query; that of the whole query has the rest. 0: no such branch."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "InfoMin":
        return InfoMin(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        jigsaw: dict[str, ViewTransform] = {"jigsaw": Jigsaw()} if self.jigsaw_weight else {}
        return {**super().view_transforms(), **jigsaw}


class InfoMin(MoCo):
    """MoCo whose queries are asked twice: as a whole, and in pieces."""

    settings: InfoMinSettings

    def __init__(
        self, encoder: Encoder, settings: InfoMinSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        if settings.jigsaw_weight:
            self.jigsaw_head = JigsawHead(
                encoder.dim,
                settings.hidden,
                settings.dim,
                pieces=GRID**2,
                batch_norm=settings.head_batch_norm,
            )
            if settings.batch_norm_groups > 1:
                split_batch_norm(self.jigsaw_head, settings.batch_norm_groups)

    def compare(
        self, queries: Tensor, positives: Tensor, views: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        losses, positive = super().compare(queries, positives, views)
        weight = self.settings.jigsaw_weight
        if weight:
            in_pieces, _ = super().compare(self.embed_jigsaw(views["jigsaw"]), positives, views)
            losses = (1 - weight) * losses + weight * in_pieces
        return losses, positive

    def embed_jigsaw(self, images: Tensor) -> Tensor:
        """Jigsaw views (N, 3, H, W) to unit embeddings (N, D).

        The encoder's running statistics remain those of whole images, which it is used for later.
        """
        with running_statistics_kept(self.encoder):
            features = self.encoder(cut(images, GRID))  # (9 N, C)
        return F.normalize(self.jigsaw_head(features), dim=1)
