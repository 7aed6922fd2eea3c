"""Classification: a linear head on the pooled features, trained with the encoder or alone."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from torch.nn import functional as F

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.mixing import MixingSettings, mixed
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.transfer.linear_task import LinearTask
from unshortcut.transfer.task import Example, Score, TaskSettings, required_classes

TOP = 5


@settings
class ClassifySettings(MixingSettings, TaskSettings):
    """Settings of the loss and of the head."""

    name = "classify"
    metric: ClassVar[str] = "top1"
    section: ClassVar[str] = "task"

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
        images = batch.views["image"]
        mixture = self.settings.mixture(images, *key)
        features = self.encoder(mixed(images, mixture))  # (N, D)
        logits = self.classifier(features)  # (N, C)
        loss = self.settings.cross_entropy(logits, batch.label, mixture)
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
