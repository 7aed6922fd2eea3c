"""MAE: predict the hidden patches of an image from the visible ones (He et al., 2022)."""

from typing import Annotated

from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from unshortcut.fields import Number
from unshortcut.losses.reconstruction import pixel_error
from unshortcut.methods.corruption import Corruption
from unshortcut.methods.masked import MaskedMethod
from unshortcut.methods.method import MethodSettings, TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.masked_decoder import DecoderSettings
from unshortcut.models.masked_network import MaskedOutput
from unshortcut.models.masked_vit import check_name
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class MAESettings(MethodSettings):
    """Settings of MAE; the defaults are those published."""

    name = "mae"
    smallest_batch = 1

    mask_ratio: Annotated[Number, Field(gt=0, lt=1)] = 0.75
    """Share of the patches that are hidden."""
    decoder: DecoderSettings = DecoderSettings()
    standardize: bool = True
    """Whether each target patch has mean 0 and variance 1 (`norm_pix_loss` in the code)."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "MAE":
        return MAE(encoder, self, training)

    def check_encoder(self, encoder: EncoderSettings) -> None:
        check_name(encoder.name)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


class MAE(MaskedMethod):
    """A ViT on visible patches and a decoder; the features are those of the ViT alone."""

    can_collapse = False

    def __init__(
        self, encoder: Encoder, settings: MAESettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, training)
        self.build_masked(settings.mask_ratio, settings.decoder, standardize=settings.standardize)

    def loss(self, batch: Batch) -> StepOutput:
        images = batch.views["query"]
        return self.loss_of(images, self.draw(images, "query"))

    def loss_of(self, images: Tensor, corruption: Corruption) -> StepOutput:
        """The loss of images (N, 3, H, W) with given masks."""
        mask = corruption.mask
        patches = self.grid.cut(images)
        output: MaskedOutput = self.network(corruption.seen(patches), mask)
        predicted = output.predicted.hidden
        assert predicted is not None
        loss = pixel_error(predicted, patches, mask.hidden, standardized=self.standardizes)
        return StepOutput(loss, F.normalize(output.features.detach(), dim=1))

    def embed(self, images: Tensor) -> Tensor:
        """Unit features of whole images; MAE has no other embedding."""
        return F.normalize(self.encoder(images), dim=1)
