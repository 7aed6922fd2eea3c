"""Supervised training of a linear classifier on the encoder, the papers' upper baseline."""

from typing import Annotated

from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, Number
from unshortcut.methods.classification import (
    build_classifier,
    classifier_and_labels,
    mixed,
    mixed_cross_entropy,
    mixing_share,
)
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class SupervisedSettings(MethodSettings):
    """Settings of the loss."""

    name = "supervised"
    has_classifier = True

    label_smoothing: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    """Share of a label that is spread evenly over all classes (Szegedy et al. 2016)."""
    mixup: NonNegativeNumber = 0.0
    """α of Beta(α, α), from which the share of an image in a mixed pair is drawn (Zhang et al.
    2018); 0 mixes nothing."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Supervised":
        return Supervised(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}

    def check(self, batch: DeviceBatch) -> None:
        if self.mixup and batch.images % 2:
            raise UsageError(
                f"method.mixup mixes pairs of images, but {batch.images} images at a time are on "
                "each device; make data.batch_size / (devices × training.accumulate) even"
            )


class Supervised(Method):
    """One encoder and a classifier with cross-entropy; both are exported."""

    def __init__(
        self,
        encoder: Encoder,
        settings: SupervisedSettings,
        training: TrainingContext | None = None,
    ) -> None:
        super().__init__(encoder, training)
        self.settings = settings
        self.classifier = build_classifier(encoder, self.training_context, settings.name)

    def loss(self, batch: Batch) -> StepOutput:
        classifier, label = classifier_and_labels(self.classifier, batch, self.settings.name)
        share = mixing_share(
            self.settings.mixup, self.training_context.seed, int(self.batches_seen)
        )
        features = self.encoder(mixed(batch.views["query"], share))  # (N, C)
        logits = classifier(features)  # (N, classes)
        loss = mixed_cross_entropy(logits, label, share, self.settings.label_smoothing)
        metrics = {"accuracy": (logits.argmax(dim=1) == label).float().mean()}
        return StepOutput(loss, F.normalize(features.detach(), dim=1), metrics)

    @property
    def linear_classifier(self) -> nn.Linear | None:
        return self.classifier

    def embed(self, images: Tensor) -> Tensor:
        """Unit features, the space in which the classifier is linear."""
        return F.normalize(self.encoder(images), dim=1)
