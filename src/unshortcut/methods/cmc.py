"""CMC: an image's lightness and its color, told by two networks, must agree (Tian et al.).

The step, in order: encode the L and the ab channels of one view, each by its own network; compare
each with the image's row in the bank of the other, the positive, and with rows drawn at random;
after the backward pass, move both banks' rows of the batch toward the new embeddings.
"""

from dataclasses import dataclass
from typing import Annotated, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.distributed import gather
from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.insdis import positions
from unshortcut.methods.method import Batch, Method, MethodSettings, StepOutput, TrainingContext
from unshortcut.models.bank import MemoryBank
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@dataclass(frozen=True)
class CMCSettings(MethodSettings):
    """CMC as PyContrast has it, by default: linear heads and the loss of InfoNCE.

    Colors are those of Lab, as in the CMC paper; PyContrast itself takes the alike YDbDr.
    """

    name = "cmc"

    dim: int = 128
    """Width of the embedding of each network."""
    head_batch_norm: bool = False
    """Batch norm after the linear head; small encoders learn far sooner with it."""
    bank_negatives: Annotated[int, Field(ge=1)] = 65536
    """How many rows of the banks are drawn each step as negatives, for all queries together."""
    bank_momentum: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The share that a row of a bank keeps when its image is seen again."""
    loss: AnyLoss = InfoNCE(temperature=0.07)  # noqa: RUF009 (frozen)

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "CMC":
        return CMC(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


class CMC(Method):
    """Two networks and two banks, contrasted across; the representation is that of both.

    As in InsDis, negatives are drawn once a step for the queries of all ranks, and a query may
    meet the row of its own image among them.
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
        plan = self.training_context
        self.heads = nn.ModuleList(
            MLPHead(
                encoder.dim // 2, 0, settings.dim, layers=1, batch_norm=settings.head_batch_norm
            )
            for _ in range(2)
        )
        self.banks = nn.ModuleList(
            MemoryBank(plan.images, settings.dim, torch_seed(plan.seed, part))
            for part in ("lightness", "colour")
        )
        self._pending: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def networks(self) -> ColorSplit:
        """The two networks in the encoder."""
        return cast(ColorSplit, self.encoder.model)

    def loss(self, batch: Batch) -> StepOutput:
        index = positions(batch)
        lightness, color = self.embed_parts(batch.views["query"])  # (N, D) each
        of_lightness, of_color = (cast(MemoryBank, bank) for bank in self.banks)
        drawn = of_color.sample(self.settings.bank_negatives, self.step_generator("bank"))  # (K,)
        first, one = self._compare(lightness, of_color, index, drawn)
        second, other = self._compare(color, of_lightness, index, drawn)

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
        """(N, 2 D): the similarity of two rows is the mean of those that the two networks see."""
        return self._join(*self.embed_parts(images))

    def embed_parts(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Unit embeddings of lightness and of color, (N, D) each."""
        lightness, color = (
            F.normalize(head(features), dim=1)
            for head, features in zip(self.heads, self.networks.parts(images), strict=True)
        )
        return lightness, color

    def _compare(
        self, queries: Tensor, bank: MemoryBank, index: Tensor, drawn: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Losses of queries (N, D) against a bank, and similarities to positives, (N,) both."""
        positive = (queries * bank.read(index)).sum(dim=1)
        return self.settings.loss(positive, [queries @ bank.read(drawn).T]), positive

    @staticmethod
    def _join(lightness: Tensor, color: Tensor) -> Tensor:
        return torch.cat([lightness, color], dim=1) / 2**0.5
