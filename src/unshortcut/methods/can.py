"""CAN: contrast, masked autoencoding and noise prediction on two masked views (Mishra et al.).

The encoder sees half of the patches of two views, to which noise was added. The mean of its tokens
is contrasted with those of all other views; a decoder predicts, with one output per patch, the
pixels of hidden patches and the noise in visible ones. The pixels are those of the clean image.
Each of the three terms can be left out with a weight of 0.
"""

from collections.abc import Mapping
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, Number, PositiveInt
from unshortcut.imaging.patches import standardize
from unshortcut.losses.reconstruction import pixel_error
from unshortcut.methods.corruption import Corruption, joined
from unshortcut.methods.masked import MaskedMethod
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.simclr import SimCLR, SimCLRSettings
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.batchnorm import running_statistics_kept
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.heads import MLPHead
from unshortcut.models.masked_decoder import DecoderSettings
from unshortcut.models.masked_network import MaskedOutput
from unshortcut.models.masked_vit import check_name, pooled, visible_tokens
from unshortcut.negatives.source import Negatives, Sources
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class CANSettings(SimCLRSettings):
    """Settings of CAN; the weights are those of the authors' code."""

    name = "can"

    hidden: PositiveInt = 4096
    """Width of the hidden layers of the head."""
    head_layers: Annotated[PositiveInt, Field(ge=2)] = 3
    """Number of linear layers of the head."""
    mask_ratio: Annotated[Number, Field(ge=0, lt=1)] = 0.5
    """Share of the patches that are hidden, in each view."""
    decoder: DecoderSettings = DecoderSettings()
    standardize: bool = True
    """Whether each target patch of pixels has mean 0 and variance 1, as in MAE."""
    noise_max: NonNegativeNumber = 0.05
    """The largest standard deviation of the noise, in units of normalized pixels; that of an image
    is uniform from 0 to this value."""
    standardize_noise: bool = False
    """Whether the noise to predict has mean 0 and variance 1 in each patch, so that its error is of
    the size of that of standardized pixels, as in an independent port (bwconrad/can)."""
    contrast: NonNegativeNumber = 0.03
    """Weight of the contrastive loss; with 0 there is no head."""
    reconstruct: NonNegativeNumber = 0.679
    """Weight of the error of hidden pixels."""
    denoise: NonNegativeNumber = 0.291
    """Weight of the error of the noise; with 0 no noise is added."""

    def __post_init__(self) -> None:
        if not (self.contrast or self.reconstruct or self.denoise):
            raise UsageError(
                "method 'can': 'contrast', 'reconstruct' and 'denoise' must not all be 0"
            )
        if self.denoise and not self.noise_max:
            raise UsageError(
                "method 'can': noise_max 0 leaves no noise to predict; set denoise to 0 as well, "
                "or noise_max above 0"
            )
        if self.reconstruct and not self.mask_ratio:
            raise UsageError(
                "method 'can': mask_ratio 0 leaves no pixels to predict; set reconstruct to 0 as "
                "well, or mask_ratio above 0"
            )

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "CAN":
        return CAN(encoder, self, training)

    def check_encoder(self, encoder: EncoderSettings) -> None:
        check_name(encoder.name)

    def view_transforms(self) -> dict[str, ViewTransform]:
        if self.contrast:
            return super().view_transforms()
        return {"query": Augmented(), "key": Augmented()}

    def check(self, batch: DeviceBatch) -> None:
        if self.contrast:
            super().check(batch)

    def sources_by_key(self) -> dict[str, Negatives]:
        return super().sources_by_key() if self.contrast else {}


class CAN(MaskedMethod, SimCLR):
    """SimCLR on masked, noisy views, with a decoder of both."""

    settings: CANSettings

    def __init__(
        self, encoder: Encoder, settings: CANSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        self.can_collapse = settings.contrast > 0
        self.negatives_drawn = 0
        """Number of times that negatives were encoded in this step."""
        self.build_masked(
            settings.mask_ratio,
            settings.decoder,
            standardize=settings.standardize,
            predict_pixels=settings.reconstruct > 0,
            noise_max=settings.noise_max if settings.denoise else None,
            standardize_noise=settings.standardize_noise,
        )

    def build_head(self) -> nn.Module:
        chosen = self.settings
        if not chosen.contrast:
            return nn.Identity()
        return MLPHead(
            self.encoder.dim,
            chosen.hidden,
            chosen.dim,
            layers=chosen.head_layers,
            batch_norm=chosen.head_batch_norm,
            last_bias=chosen.head_batch_norm == "hidden",
        )

    def build_sources(self, seed: int) -> Sources:
        negatives = self.settings.negatives if self.settings.contrast else ()
        return Sources(negatives, self.settings.dim, seed)

    def loss(self, batch: Batch) -> StepOutput:
        views = batch.views
        drawn = joined([self.draw(views[name], name) for name in ("query", "key")])
        return self.loss_of(views, drawn)

    def loss_of(self, views: Mapping[str, Tensor], corruption: Corruption) -> StepOutput:
        """The loss of views (N, 3, H, W) with given masks and noise, those of the queries first."""
        self.negatives_drawn = 0
        images = torch.cat([views["query"], views["key"]])  # (2N, 3, H, W)
        patches, mask = self.grid.cut(images), corruption.mask
        output: MaskedOutput = self.network(corruption.seen(patches), mask, corruption.noise_std)
        queries = F.normalize(self.head(output.features), dim=1)  # (2N, D)
        terms: dict[str, Tensor] = {}
        metrics: dict[str, Tensor] = {}
        if self.settings.contrast:
            positives = queries.roll(len(queries) // 2, dims=0)  # the other view of each
            contrasted = self.step_output(queries, positives, views)
            terms["contrast"], metrics = contrasted.loss, contrasted.metrics
        predicted = output.predicted
        if predicted.hidden is not None:
            terms["reconstruct"] = pixel_error(
                predicted.hidden, patches, mask.hidden, standardized=self.standardizes
            )
        if predicted.visible is not None and corruption.noise is not None:
            noise = corruption.noise
            target = standardize(noise) if self.standardizes_noise else noise
            terms["denoise"] = F.mse_loss(predicted.visible, target)
            # The share of its variance that is predicted; the error alone depends on the levels.
            left = terms["denoise"].detach() / target.square().mean()
            metrics["explained_noise"] = 1 - left
        weighted = [getattr(self.settings, name) * term for name, term in terms.items()]
        total = torch.stack(weighted).sum()
        metrics |= {f"loss_{name}": term.detach() for name, term in terms.items()}
        return StepOutput(total, queries.detach(), metrics)

    def encode_keys(self, images: Tensor) -> Tensor:
        """Encode other images as the views are, masked and with noise."""
        learns = self.settings.negative_gradient and torch.is_grad_enabled()
        drawn = self.draw(images, f"negative {self.negatives_drawn}")
        self.negatives_drawn += 1
        with torch.set_grad_enabled(learns), running_statistics_kept(self):
            tokens = visible_tokens(self.encoder, drawn.seen(self.grid.cut(images)), drawn.mask)
            return F.normalize(self.head(pooled(self.encoder, tokens)), dim=1)
