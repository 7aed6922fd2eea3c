"""What methods with a linear classifier on the encoder share."""

from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import Encoder
from unshortcut.randomness import generator


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


def mixing_share(alpha: float, *key: int | str) -> float:
    """The share of each image in its mixed pair, from Beta(alpha, alpha); 1 for alpha 0.

    It is the same on all ranks, since it depends on the key alone.
    """
    if not alpha:
        return 1.0
    share = float(generator(*key, "mixup").beta(alpha, alpha))
    # Of a pair both mixtures are trained on, so exchanging the shares changes only their
    # order. With the larger share, the image's own label remains the one to predict.
    return max(share, 1 - share)


def mixed(images: Tensor, share: float) -> Tensor:
    """Images (N, …), each mixed with its neighbor, of which it gets 1 - `share`."""
    return images if share == 1 else share * images + (1 - share) * neighbors(images)


def mixed_cross_entropy(logits: Tensor, label: Tensor, share: float, smoothing: float) -> Tensor:
    """Cross-entropy with the labels (N,) of mixed images, in proportion to their shares."""
    loss = F.cross_entropy(logits, label, label_smoothing=smoothing)
    if share == 1:
        return loss
    other = F.cross_entropy(logits, neighbors(label), label_smoothing=smoothing)
    return share * loss + (1 - share) * other


def neighbors(rows: Tensor) -> Tensor:
    """Rows (N, …) of an even N with each pair of neighbors exchanged: 1, 0, 3, 2, …

    The order of the images is random already, so neighbors are random pairs; and they are always on
    the same device, unlike the pairs of timm's and torchvision's mixup.
    """
    return rows.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)
