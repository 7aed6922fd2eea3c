"""CMC: contrasts the lightness of an image with its color, in two networks (Tian et al.).

A step encodes the L and the ab channels of one view, each with its own network. Each embedding is
compared with the image's row in the memory bank of the other network, the positive, and with
random rows. After the backward pass, the images' rows in both banks move toward the new embeddings.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.distributed import gather
from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt, Probability
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.insdis import image_indices
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.bank import MemoryBank
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.parts import settings
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class CMCSettings(MethodSettings):
    """Settings of CMC; the defaults are PyContrast's, with linear heads and InfoNCE.

    The color space is Lab, as in the CMC paper; PyContrast itself uses the similar YDbDr.
    """

    name = "cmc"

    dim: PositiveInt = 128
    """Dimension of the embedding of each network."""
    head_batch_norm: bool = False
    """Whether batch norm follows the linear head; small encoders learn much faster with it."""
    bank_negatives: PositiveInt = 65536
    """Number of random rows of a bank that all queries of a step share as negatives."""
    bank_momentum: Probability = 0.5
    """Weight of the old row of a bank when its image is seen again."""
    loss: AnyLoss = InfoNCE(temperature=0.07)

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "CMC":
        return CMC(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


class CMC(Method):
    """Two networks with two memory banks; the representation is that of both networks.

    As in InsDis, negatives are sampled once per step for the queries of all ranks and may include
    the row of a query's own image.
    """

    def __init__(
        self, encoder: Encoder, settings: CMCSettings, training: TrainingContext | None = None
    ) -> None:
        if not isinstance(encoder.model, ColorSplit):
            raise UsageError(
                "method cmc contrasts lightness with color: set encoder.color_split to true"
            )
        super().__init__(encoder, training)
        self.settings = settings
        context = self.training_context
        dims, norm = (encoder.dim // 2, 0, settings.dim), settings.head_batch_norm
        self.heads = nn.ModuleList(MLPHead(*dims, layers=1, batch_norm=norm) for _ in range(2))
        self.banks = nn.ModuleList(
            MemoryBank(context.num_images, settings.dim, torch_seed(context.seed, part))
            for part in ("lightness", "colour")
        )
        self._pending: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def networks(self) -> ColorSplit:
        """The two networks in the encoder."""
        return cast(ColorSplit, self.encoder.model)

    def loss(self, batch: Batch) -> StepOutput:
        index = image_indices(batch)
        lightness, color = self.embed_parts(batch.views["query"])  # (N, D) each
        of_lightness, of_color = (cast(MemoryBank, bank) for bank in self.banks)
        sampled = of_color.sample(self.settings.bank_negatives, self.step_generator("bank"))  # (K,)
        first, one = self._compare(lightness, of_color, index, sampled)
        second, other = self._compare(color, of_lightness, index, sampled)

        self._pending = (index, lightness.detach(), color.detach())
        metrics = {"positive_similarity": torch.cat([one, other]).detach().mean()}
        return StepOutput((first + second).mean(), self._join(lightness, color).detach(), metrics)

    def after_backward(self) -> None:
        if self._pending is not None:
            index, *embeddings = (gather(part) for part in self._pending)
            for bank, new in zip(self.banks, embeddings, strict=True):
                cast(MemoryBank, bank).update(index, new, self.settings.bank_momentum)
            self._pending = None

    def embed(self, images: Tensor) -> Tensor:
        """(N, 2 D): the similarity of two rows is the mean of the similarities in both networks."""
        return self._join(*self.embed_parts(images))

    def embed_parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Unit embeddings of lightness and of color, (N, D) each."""
        lightness, color = (
            F.normalize(head(features), dim=1)
            for head, features in zip(self.heads, self.networks.parts(images), strict=True)
        )
        return lightness, color

    def _compare(
        self, queries: Tensor, bank: MemoryBank, index: Tensor, sampled: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Losses of the queries (N, D) and their similarities to positives in a bank, both (N,)."""
        positive = (queries * bank.read(index)).sum(dim=1)
        return self.settings.loss(positive, [queries @ bank.read(sampled).T]), positive

    @staticmethod
    def _join(lightness: Tensor, color: Tensor) -> Tensor:
        return torch.cat([lightness, color], dim=1) / 2**0.5
