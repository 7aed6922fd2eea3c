"""The base of tasks that an encoder is fine-tuned for: a loss, predictions and their score."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.data.regions import Regions
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method, TrainingContext
from unshortcut.models.encoder import Encoder
from unshortcut.parts import PartOf


@dataclass(frozen=True)
class Example:
    """One image to evaluate on, as its data set has it."""

    label: int = -1
    """Its class, -1 without."""
    multilabel: NDArray[np.int8] | None = None
    """(C,): 1 shown, 0 not shown, -1 unknown."""
    regions: Regions = field(default_factory=Regions)
    """Boxes and mask in pixels of the full image."""
    height: int = 0
    """Of the full image."""
    width: int = 0


class Score(ABC):
    """Accumulates predictions; one object for each evaluation."""

    @abstractmethod
    def add(self, predictions: Sequence[Any], examples: Sequence[Example]) -> None:
        """Add the predictions for some images."""

    @abstractmethod
    def result(self) -> dict[str, float]:
        """Metrics by name, in percent where the field gives percent."""


class TaskSettings(ABC):
    """Settings of a task as fields (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]
    metric: ClassVar[str]
    """The metric by which the best weights are chosen; higher is better."""
    dense: ClassVar[bool] = False
    """Whether boxes or masks are needed, so that images are evaluated whole and not cropped."""

    @abstractmethod
    def classes(self, source: ImageSource) -> tuple[str, ...]:
        """The classes to predict; a `UsageError` if the source lacks what the task needs."""

    @abstractmethod
    def build(self, encoder: Encoder, classes: Sequence[str], training: TrainingContext) -> "Task":
        """The task with an encoder and a head for the classes, from scratch."""


AnyTask = Annotated[TaskSettings, PartOf("unshortcut.transfer.tasks", TaskSettings, "task")]
"""A field that holds the settings of a task."""


class Task(Method):
    """An encoder with a head, trained on the view `image` of each image."""

    can_collapse: ClassVar[bool] = False

    @property
    @abstractmethod
    def head(self) -> nn.Module:
        """What is trained from scratch on top of the encoder."""

    @abstractmethod
    def predict(self, images: Tensor, sizes: Tensor, examples: Sequence[Example]) -> list[Any]:
        """One prediction per image, in eval mode and without gradient.

        Args:
            images: normalized (N, 3, H, W), padded at the bottom and at the right.
            sizes: (N, 2), height and width of each image before padding.
            examples: the images as their data set has them; boxes and masks are predicted in
                pixels of these full images, whose annotations are not looked at.
        """

    @abstractmethod
    def score(self) -> Score:
        """A new score of this task."""

    def embed(self, images: Tensor) -> Tensor:
        """Unit features of the encoder."""
        return F.normalize(self.encoder(images), dim=1)


def required_classes(classes: tuple[str, ...] | None, task: str, needs: str) -> tuple[str, ...]:
    """The classes of a source, or a `UsageError` that says what a task needs."""
    if not classes:
        raise UsageError(f"task '{task}' needs {needs}, and the data have none")
    return classes
