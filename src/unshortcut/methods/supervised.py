"""Supervised training of a linear classifier on the encoder, the papers' upper baseline."""

from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.methods.classification import build_classifier, classifier_and_labels
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.mixing import MixingSettings, mixed
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class SupervisedSettings(MixingSettings, MethodSettings):
    """Settings of the loss: label smoothing, mixup and CutMix."""

    name = "supervised"
    has_classifier = True

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Supervised":
        return Supervised(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


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
        images = batch.views["query"]
        mixture = self.settings.mixture(images, self.training_context.seed, int(self.batches_seen))
        features = self.encoder(mixed(images, mixture))  # (N, C)
        logits = classifier(features)  # (N, classes)
        loss = self.settings.cross_entropy(logits, label, mixture)
        metrics = {"accuracy": (logits.argmax(dim=1) == label).float().mean()}
        return StepOutput(loss, F.normalize(features.detach(), dim=1), metrics)

    @property
    def linear_classifier(self) -> nn.Linear | None:
        return self.classifier

    def embed(self, images: Tensor) -> Tensor:
        """Unit features, the space in which the classifier is linear."""
        return F.normalize(self.encoder(images), dim=1)
