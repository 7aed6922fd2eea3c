"""Multi-label classification: which of the classes an image shows, by one linear output each."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, PositiveInt
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.probes.average_precision import (
    average_precisions,
    map_mean_over_batches,
    mean_over_classes,
)
from unshortcut.transfer.linear_task import LinearTask
from unshortcut.transfer.task import Example, Score, TaskSettings, required_classes


@settings
class MultilabelSettings(TaskSettings):
    """Settings of the loss, of the head and of the evaluation."""

    name = "multilabel"
    metric: ClassVar[str] = "map"

    class_reduction: Literal["sum", "mean"] = "sum"
    """The loss of an image: the sum of the binary cross-entropies of the classes that are known in
    it, as in Caron's protocol for VOC07 (deepcluster, eval_voc_classif.py); or their sum divided by
    the number of all classes, as in the script of object-aware cropping for OpenImages."""
    crops: PositiveInt = 1
    """In evaluation: 1 for the center crop, or the number of random views, augmented as in
    training, whose scores are summed; 10 in Caron's protocol."""
    head_std: NonNegativeNumber = 0.01
    """Standard deviation of the initial weights of the head; its bias starts at 0."""

    def classes(self, source: ImageSource) -> tuple[str, ...]:
        needs = (
            "to know which classes each image shows: data in the format of VOC, COCO or OpenImages,"
            " or a CSV file of labels"
        )
        shown = source.multilabels
        return required_classes(None if shown is None else shown.classes, self.name, needs)

    def build(
        self, encoder: Encoder, classes: Sequence[str], training: TrainingContext
    ) -> "Multilabel":
        return Multilabel(encoder, self, len(classes), training)


class Multilabel(LinearTask):
    """Binary cross-entropy of a linear head on the pooled features; unknown labels are left out."""

    multilabel: ClassVar[bool] = True

    def __init__(
        self, encoder: Encoder, settings: MultilabelSettings, count: int, training: TrainingContext
    ) -> None:
        super().__init__(encoder, count, settings.head_std, training)
        self.settings = settings

    def loss(self, batch: Batch) -> StepOutput:
        assert batch.multilabel is not None
        features = self.encoder(batch.views["image"])  # (N, D)
        logits = self.classifier(features)  # (N, C)
        loss = multilabel_loss(logits, batch.multilabel)
        if self.settings.class_reduction == "mean":
            loss = loss / logits.shape[1]
        return StepOutput(loss, F.normalize(features.detach(), dim=1))

    def combine(self, predictions: Sequence[Any]) -> NDArray[np.float32]:
        """The sum of the logits (C,) of several views."""
        total: NDArray[np.float32] = np.sum(predictions, axis=0)
        return total

    def score(self) -> "MultilabelScore":
        return MultilabelScore()


def multilabel_loss(logits: Tensor, values: Tensor) -> Tensor:
    """Mean over images of the sum of the binary cross-entropies of known classes.

    Args:
        logits: (N, C).
        values: (N, C), 1 shown, 0 not shown, -1 unknown.
    """
    known = (values >= 0).to(logits.dtype)
    target = (values == 1).to(logits.dtype)
    total = F.binary_cross_entropy_with_logits(logits, target, weight=known, reduction="sum")
    return total / len(logits)


class MultilabelScore(Score):
    """Mean average precision over the data set, in percent.

    `map` is by area, as scikit-learn's, `map_interpolated` VOC's measure since 2010, and `map_11pt`
    VOC's measure until 2009. `map_mean_over_batches` is the figure of the published script for
    OpenImages, which is no mean average precision (`map_mean_over_batches`).
    """

    def __init__(self) -> None:
        self.logits: list[NDArray[np.float32]] = []
        self.values: list[NDArray[np.int8]] = []

    def add(self, predictions: Sequence[Any], examples: Sequence[Example]) -> None:
        for logits, example in zip(predictions, examples, strict=True):
            if example.multilabel is not None:
                self.logits.append(logits)
                self.values.append(example.multilabel)

    def result(self) -> dict[str, float]:
        if not self.values:
            raise UsageError("it is not known which classes the images to evaluate on show")
        logits, values = np.stack(self.logits), np.stack(self.values)
        found = average_precisions(logits, values)
        shares = {
            "map": mean_over_classes(found.area),
            "map_interpolated": mean_over_classes(found.interpolated),
            "map_11pt": mean_over_classes(found.eleven_point),
            "map_mean_over_batches": map_mean_over_batches(logits, values),
        }
        return {name: 100 * value for name, value in shares.items()}
