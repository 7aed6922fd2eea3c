"""Classification: a linear head on the pooled features, trained with the encoder or alone."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field
from torch.nn import functional as F

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, Number
from unshortcut.methods.classification import mixed, mixed_cross_entropy, mixing_share
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.transfer.linear_task import LinearTask
from unshortcut.transfer.task import Example, Score, TaskSettings, required_classes

TOP = 5


@settings
class ClassifySettings(TaskSettings):
    """Settings of the loss and of the head."""

    name = "classify"
    metric: ClassVar[str] = "top1"

    label_smoothing: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    """Share of a label that is spread evenly over all classes (Szegedy et al. 2016)."""
    mixup: NonNegativeNumber = 0.0
    """α of Beta(α, α), from which the share of an image in a mixed pair is drawn (Zhang et al.
    2018); 0 mixes nothing."""
    head_std: NonNegativeNumber = 0.01
    """Standard deviation of the initial weights of the head; its bias starts at 0."""

    def classes(self, source: ImageSource) -> tuple[str, ...]:
        needs = "a label for each image: class folders, or a data set that has labels"
        found = source.classes if source.labels is not None else None
        return required_classes(found, self.name, needs)

    def build(
        self, encoder: Encoder, classes: Sequence[str], training: TrainingContext
    ) -> "Classify":
        return Classify(encoder, self, len(classes), training)

    def check(self, batch: DeviceBatch) -> None:
        if self.mixup and batch.images % 2:
            raise UsageError(
                f"task.mixup mixes pairs of images, but {batch.images} images at a time are on "
                "each device; make data.batch_size / (devices × training.accumulate) even"
            )


class Classify(LinearTask):
    """Cross-entropy of a linear classifier."""

    def __init__(
        self, encoder: Encoder, settings: ClassifySettings, count: int, training: TrainingContext
    ) -> None:
        super().__init__(encoder, count, settings.head_std, training)
        self.settings = settings

    def loss(self, batch: Batch) -> StepOutput:
        assert batch.label is not None
        key = self.training_context.seed, int(self.batches_seen)
        share = mixing_share(self.settings.mixup, *key)
        features = self.encoder(mixed(batch.views["image"], share))  # (N, D)
        logits = self.classifier(features)  # (N, C)
        smoothing = self.settings.label_smoothing
        loss = mixed_cross_entropy(logits, batch.label, share, smoothing)
        metrics = {"accuracy": (logits.argmax(dim=1) == batch.label).float().mean()}
        return StepOutput(loss, F.normalize(features.detach(), dim=1), metrics)

    def score(self) -> "ClassificationScore":
        return ClassificationScore(self.classifier.out_features)


class ClassificationScore(Score):
    """Top-1 and top-5 accuracy, and the mean over classes of the accuracy in each, in percent."""

    def __init__(self, num_classes: int) -> None:
        self.num_classes = num_classes
        self.right: list[bool] = []
        self.right_of_five: list[bool] = []
        self.labels: list[int] = []

    def add(self, predictions: Sequence[Any], examples: Sequence[Example]) -> None:
        for logits, example in zip(predictions, examples, strict=True):
            if example.label < 0:
                continue
            # A tie with another class is not right, so that equal logits and NaN are not.
            above = int((~(logits < logits[example.label])).sum()) - 1
            self.right.append(above < 1)
            self.right_of_five.append(above < TOP)
            self.labels.append(example.label)

    def result(self) -> dict[str, float]:
        if not self.labels:
            raise UsageError("none of the images to evaluate on has a label")
        labels, right = np.array(self.labels), np.array(self.right)
        by_class = [right[labels == one].mean() for one in np.unique(labels)]
        found = {"top1": right.mean(), "mean_per_class": np.mean(by_class)}
        if self.num_classes > TOP:
            found["top5"] = np.mean(self.right_of_five)
        return {name: 100 * float(value) for name, value in found.items()}
