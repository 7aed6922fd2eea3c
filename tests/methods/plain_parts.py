"""Stand-ins without batch norm for methods that ask more of an encoder than one forward."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.small import PlainEncoder, WithMaps
from unshortcut.methods.can import CAN, CANSettings
from unshortcut.methods.cmc import CMC, CMCSettings
from unshortcut.methods.densecl import DenseCL, DenseCLSettings
from unshortcut.methods.gold_correction import GoldCorrection, GoldCorrectionSettings
from unshortcut.methods.hcl_densecl import HCLDenseCL, HCLDenseCLSettings
from unshortcut.methods.infomin import InfoMin, InfoMinSettings
from unshortcut.methods.jigsaw import Jigsaw, JigsawSettings
from unshortcut.methods.mae import MAE, MAESettings
from unshortcut.methods.method import TrainingContext
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.masked_decoder import DecoderSettings
from unshortcut.parts import settings


class PlainSplitEncoder(Encoder):
    """Linear layers for lightness and for color."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.settings = EncoderSettings(color_split=True)
        self.model = ColorSplit(*(self._part(channels) for channels in (1, 2)))
        self.dim = self.model.num_features

    @staticmethod
    def _part(channels: int) -> nn.Module:
        part = nn.Sequential(
            nn.Flatten(), nn.Linear(channels * 4 * 4, 9), nn.Tanh(), nn.Linear(9, 5)
        )
        part.num_features = 5  # type: ignore[assignment]
        return part


class PlainPieceEncoder(PlainEncoder):
    """A `PlainEncoder` for pieces of any size, which are brought to 4 × 4."""

    def forward(self, images: Tensor) -> Tensor:
        return super().forward(F.adaptive_avg_pool2d(images, 4))


class PlainMapEncoder(Encoder):
    """Maps of 7 channels and 2 × 2 cells of images of 4 × 4, and 6 pooled features."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.settings = EncoderSettings()
        self.dim = 6
        self.model = WithMaps(
            nn.Conv2d(3, 9, 2, stride=2),
            nn.Tanh(),
            nn.Conv2d(9, 7, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(7, self.dim),
        )


TINY_VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    positions="sincos",
    options={
        "img_size": 4, "patch_size": 2, "embed_dim": 8, "depth": 2, "num_heads": 2,
        "global_pool": "avg", "fc_norm": False,
    },
)  # fmt: skip
"""Four patches of images of 4 × 4."""
TINY_DECODER = DecoderSettings(width=8, depth=1, heads=2)


@settings
class PlainMAE(MAESettings):
    """MAE that brings its encoder along, whatever it is given."""

    decoder: DecoderSettings = TINY_DECODER

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> MAE:
        return MAE(Encoder(TINY_VIT), self, training)


@settings
class PlainCAN(CANSettings):
    """CAN that brings its encoder along, whatever it is given."""

    decoder: DecoderSettings = TINY_DECODER
    hidden: int = 8
    dim: int = 5
    head_batch_norm: bool = False

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> CAN:
        return CAN(Encoder(TINY_VIT), self, training)


@settings
class PlainCMC(CMCSettings):
    """CMC that brings its encoder along, whatever it is given."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> CMC:
        return CMC(PlainSplitEncoder(), self, training)


@settings
class PlainInfoMin(InfoMinSettings):
    """InfoMin that brings its encoder along, whatever it is given."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> InfoMin:
        return InfoMin(PlainPieceEncoder(), self, training)


@settings
class PlainDenseCL(DenseCLSettings):
    """DenseCL that brings its encoder along, whatever it is given."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> DenseCL:
        return DenseCL(PlainMapEncoder(), self, training)


@settings
class PlainHCLDenseCL(HCLDenseCLSettings):
    """HCL on DenseCL that brings its encoder along, whatever it is given."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> HCLDenseCL:
        return HCLDenseCL(PlainMapEncoder(), self, training)


@settings
class PlainJigsaw(JigsawSettings):
    """Jigsaw that brings its encoder along, whatever it is given."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> Jigsaw:
        return Jigsaw(PlainPieceEncoder(), self, training)


@settings
class PlainGoldCorrection(GoldCorrectionSettings):
    """Gold loss correction that knows of a corruption already."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> GoldCorrection:
        method = GoldCorrection(encoder, self, training)
        method.corruption.copy_(torch.tensor([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]]))
        return method
