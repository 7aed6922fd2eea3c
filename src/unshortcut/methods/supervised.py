"""Supervised training of a linear classifier on the encoder, the papers' upper baseline."""

from typing import Annotated

from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, Number
from unshortcut.methods.classification import build_classifier, classifier_and_labels
from unshortcut.methods.method import (
    Batch,
    DeviceBatch,
    Method,
    MethodSettings,
    StepOutput,
    TrainingContext,
)
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.randomness import generator
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
        images, smoothing = batch.views["query"], self.settings.label_smoothing
        share = self._share()
        if share < 1:
            images = share * images + (1 - share) * neighbors(images)
        features = self.encoder(images)  # (N, C)
        logits = classifier(features)  # (N, classes)
        loss = F.cross_entropy(logits, label, label_smoothing=smoothing)
        if share < 1:
            other = F.cross_entropy(logits, neighbors(label), label_smoothing=smoothing)
            loss = share * loss + (1 - share) * other
        metrics = {"accuracy": (logits.argmax(dim=1) == label).float().mean()}
        return StepOutput(loss, F.normalize(features.detach(), dim=1), metrics)

    def _share(self) -> float:
        """The share of each image in its mixed pair, the same on all ranks; 1 without mixup."""
        if not self.settings.mixup:
            return 1.0
        key = self.training_context.seed, int(self.batches_seen), "mixup"
        share = float(generator(*key).beta(self.settings.mixup, self.settings.mixup))
        # Of a pair both mixtures are trained on, so exchanging the shares changes only their
        # order. With the larger share, the image's own label remains the one to predict.
        return max(share, 1 - share)

    @property
    def linear_classifier(self) -> nn.Linear | None:
        return self.classifier

    def embed(self, images: Tensor) -> Tensor:
        """Unit features, the space in which the classifier is linear."""
        return F.normalize(self.encoder(images), dim=1)


def neighbors(rows: Tensor) -> Tensor:
    """Rows (N, …) of an even N with each pair of neighbors exchanged: 1, 0, 3, 2, …

    The order of the images is random already, so neighbors are random pairs; and they are always on
    the same device, unlike the pairs of timm's and torchvision's mixup.
    """
    return rows.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)
