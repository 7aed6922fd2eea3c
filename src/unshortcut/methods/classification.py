"""What methods with a linear classifier on the encoder share."""

from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import Encoder


def build_classifier(encoder: Encoder, context: TrainingContext, method: str) -> nn.Linear | None:
    """A classifier for the classes of the data; None without data, to use the encoder alone."""
    if context.num_classes is None and context.num_images is not None:
        raise UsageError(f"method '{method}' needs labels, and the data have none")
    return None if context.num_classes is None else nn.Linear(encoder.dim, context.num_classes)


def classifier_and_labels(
    classifier: nn.Linear | None, batch: Batch, method: str
) -> tuple[nn.Linear, Tensor]:
    """The classifier, and the labels (N,) of a batch; `UsageError` if either is missing."""
    if classifier is None or batch.label is None:
        raise UsageError(
            f"method '{method}' needs labels: TrainingContext(num_classes=…), and 'label' in a "
            "batch"
        )
    return classifier, batch.label
