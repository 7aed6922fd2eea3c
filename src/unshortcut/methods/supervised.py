"""Supervised: a classifier on the encoder, trained by the labels; the papers' upper baseline."""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.methods.method import Batch, Method, MethodSettings, StepOutput, TrainingContext
from unshortcut.models.encoder import Encoder
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@dataclass(frozen=True)
class SupervisedSettings(MethodSettings):
    """Cross-entropy of a linear classifier has no settings."""

    name = "supervised"

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Supervised":
        return Supervised(encoder, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


class Supervised(Method):
    """One encoder, one view, one class an image; the encoder is what is kept."""

    def __init__(self, encoder: Encoder, training: TrainingContext | None = None) -> None:
        super().__init__(encoder, training)
        classes, images = self.training_context.classes, self.training_context.images
        if classes is None and images is not None:
            raise UsageError("method supervised needs labels, and the data have none")
        # Without data there is nothing to classify, and the encoder can be asked all the same.
        self.classifier = None if classes is None else nn.Linear(encoder.dim, classes)

    def loss(self, batch: Batch) -> StepOutput:
        if self.classifier is None or batch.label is None:
            raise UsageError(
                "method supervised needs labels: TrainingContext(classes=…), and 'label' in a batch"
            )
        features = self.encoder(batch.views["query"])  # (N, C)
        logits = self.classifier(features)  # (N, classes)
        metrics = {"accuracy": (logits.argmax(dim=1) == batch.label).float().mean()}
        embeddings = F.normalize(features.detach(), dim=1)
        return StepOutput(F.cross_entropy(logits, batch.label), embeddings, metrics)

    def embed(self, images: Tensor) -> Tensor:
        """Unit features: the space in which the classifier draws its planes."""
        return F.normalize(self.encoder(images), dim=1)
