"""Supervised training of a linear classifier on the encoder, the papers' upper baseline."""

from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.methods.method import Batch, Method, MethodSettings, StepOutput, TrainingContext
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented


@settings
class SupervisedSettings(MethodSettings):
    """This method has no settings."""

    name = "supervised"

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Supervised":
        return Supervised(encoder, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        return {"query": Augmented()}


class Supervised(Method):
    """One encoder and a classifier with cross-entropy; both are exported."""

    def __init__(self, encoder: Encoder, training: TrainingContext | None = None) -> None:
        super().__init__(encoder, training)
        context = self.training_context
        if context.num_classes is None and context.num_images is not None:
            raise UsageError("method supervised needs labels, and the data have none")
        # Without data there is no classifier, but the encoder can be used.
        num_classes = context.num_classes
        self.classifier = None if num_classes is None else nn.Linear(encoder.dim, num_classes)

    def loss(self, batch: Batch) -> StepOutput:
        if self.classifier is None or batch.label is None:
            raise UsageError(
                "method supervised needs labels: TrainingContext(num_classes=…), and 'label' in a "
                "batch"
            )
        features = self.encoder(batch.views["query"])  # (N, C)
        logits = self.classifier(features)  # (N, classes)
        metrics = {"accuracy": (logits.argmax(dim=1) == batch.label).float().mean()}
        embeddings = F.normalize(features.detach(), dim=1)
        return StepOutput(F.cross_entropy(logits, batch.label), embeddings, metrics)

    @property
    def linear_classifier(self) -> nn.Linear | None:
        return self.classifier

    def embed(self, images: Tensor) -> Tensor:
        """Unit features, the space in which the classifier is linear."""
        return F.normalize(self.encoder(images), dim=1)
