"""InfoMin: MoCo with strong augmentations and a second query from jigsaw pieces (Tian et al.).

The augmentations are part of the recipe; this module adds the jigsaw branch. The query encoder
encodes the pieces of the view `jigsaw` one by one, a head joins them, and the result is compared
with the same keys and negatives.
"""

from collections.abc import Mapping

from torch import Tensor
from torch.nn import functional as F

from unshortcut.fields import Probability
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.models.batchnorm import running_statistics_kept, split_batch_norm
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import JigsawHead, cut
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.jigsaw import GRID, Jigsaw


@settings
class InfoMinSettings(MoCoSettings):
    """Settings of InfoMin; the defaults are PyContrast's."""

    name = "infomin"

    loss: AnyLoss = InfoNCE(temperature=0.15)
    jigsaw_weight: Probability = 0.5
    """Weight w of the jigsaw query's loss; the whole query has 1 - w. 0 disables the branch."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "InfoMin":
        return InfoMin(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        jigsaw: dict[str, ViewTransform] = {"jigsaw": Jigsaw()} if self.jigsaw_weight else {}
        return {**super().view_transforms(), **jigsaw}


class InfoMin(MoCo):
    """MoCo with two queries per image: the whole view and its jigsaw pieces."""

    settings: InfoMinSettings

    def __init__(
        self, encoder: Encoder, settings: InfoMinSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        if settings.jigsaw_weight:
            dims, norm = (encoder.dim, settings.hidden, settings.dim), settings.head_batch_norm
            self.jigsaw_head = JigsawHead(*dims, pieces=GRID**2, batch_norm=norm)
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
        """Encode jigsaw views (N, 3, H, W) to unit embeddings (N, D).

        The encoder's running statistics stay those of whole images, which it is used on later.
        """
        with running_statistics_kept(self.encoder):
            features = self.encoder(cut(images, GRID))  # (9 N, C)
        return F.normalize(self.jigsaw_head(features), dim=1)
