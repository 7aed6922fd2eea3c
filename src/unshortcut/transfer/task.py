"""The base of tasks that an encoder is fine-tuned for: a loss, predictions and their score."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer

from unshortcut.arrays import FloatArray
from unshortcut.data.regions import Regions
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import Method, TrainingContext
from unshortcut.methods.step import DeviceBatch
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.models.encoder import Encoder
from unshortcut.parts import PartOf
from unshortcut.transfer.parameters import TrainedParts, build_groups, freeze, set_drop_path
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.views.region_drawing import ClassNames


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
    weights: ClassVar[str] = WEIGHTS_FILE
    """Name of the file with the trained network in a run folder."""

    @abstractmethod
    def classes(self, source: ImageSource) -> tuple[str, ...]:
        """The classes to predict; a `UsageError` if the source lacks what the task needs."""

    @abstractmethod
    def build(self, encoder: Encoder, classes: Sequence[str], training: TrainingContext) -> "Task":
        """The task with an encoder and a head for the classes, from scratch."""

    @property
    def crops(self) -> int:
        """Views of an image in evaluation, whose predictions `Task.combine` joins.

        1 is the center crop, or the whole image for a dense task; more are random views as in
        training.
        """
        return 1

    def check(self, batch: DeviceBatch) -> None:
        """Raise a `UsageError` before a run starts if the task cannot work with its batches."""
        return


TASKS = PartOf("unshortcut.transfer.tasks", TaskSettings, "task")
AnyTask = Annotated[TaskSettings, TASKS]
"""A field that holds the settings of a task."""


@dataclass(frozen=True)
class About:
    """What the card of a trained network says about its use and its origin."""

    classes: tuple[str, ...]
    preprocessing: Preprocessing
    origin: Mapping[str, Any] = field(default_factory=dict)
    """`recipe` (the protocol), `versions` and `commit`."""


class Task(Method):
    """An encoder with a head, trained on the view `image` of each image."""

    can_collapse = False

    def __init__(self, encoder: Encoder, training: TrainingContext | None) -> None:
        super().__init__(encoder, training)
        self.schedule: TransferSchedule | None = None
        """Replaces that of the training context, if it is set."""
        self.parts = TrainedParts()
        self._kept: list[str] = []
        """Names of the modules of the encoder that stay in eval mode. Names, because synchronized
        batch norms take the place of others when a training begins."""
        self._trained: list[nn.Parameter] = []

    def plan(self, parts: TrainedParts, schedule: TransferSchedule) -> None:
        """Set which parts of the encoder are trained, how fast and how long."""
        self.parts, self.schedule = parts, schedule
        kept = {id(module) for module in freeze(self.encoder, parts)}
        self._kept = [name for name, one in self.encoder.named_modules() if id(one) in kept]
        set_drop_path(self.encoder, parts.drop_path)
        self._trained = [p for p in self.encoder.parameters() if p.requires_grad]

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        super().on_train_batch_start(batch, batch_idx)
        if self.schedule is not None and self.schedule.head_first:
            step, per_epoch = self.trainer.global_step, self._steps_per_epoch()
            self.hold_encoder(not self.schedule.trains_encoder(step, per_epoch))

    def hold_encoder(self, held: bool) -> None:
        """Train the head alone, on the features that the encoder gives in eval mode, or both."""
        for parameter in self._trained:
            parameter.requires_grad_(not held)
        self.encoder.train(not held)
        self._keep_in_eval_mode()

    def _keep_in_eval_mode(self) -> None:
        for name in self._kept:
            self.encoder.get_submodule(name).eval()

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

    def combine(self, predictions: Sequence[Any]) -> Any:
        """One prediction from those for several views of an image (`TaskSettings.crops`)."""
        raise NotImplementedError(f"{type(self).__name__} predicts from a single view")

    @abstractmethod
    def score(self) -> Score:
        """A new score of this task."""

    @property
    def network(self) -> nn.Module:
        """The whole trained network, as it is saved."""
        raise NotImplementedError(f"{type(self).__name__} is an encoder with a linear head")

    def class_names(self, classes: Sequence[str]) -> ClassNames:
        """The names of the classes, for boxes or for masks."""
        raise NotImplementedError(f"{type(self).__name__} predicts no regions")

    def drawn(self, prediction: Any) -> tuple[Regions, FloatArray | None]:
        """A prediction of boxes or a mask as regions to draw, and the scores (n,) of its boxes."""
        raise NotImplementedError(f"{type(self).__name__} predicts no regions")

    @abstractmethod
    def save(self, weights: Path, about: About) -> None:
        """Write the trained network and its card."""

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        self._keep_in_eval_mode()
        return self

    def lr_factor(self, step: int, steps_per_epoch: int) -> float:
        if self.schedule is None:
            return super().lr_factor(step, steps_per_epoch)
        return self.schedule.factor(step, steps_per_epoch)

    def configure_optimizers(self) -> list[Optimizer]:
        settings = self.training_context.optimizer
        return [build_groups(self, self.encoder, settings, self.parts)]

    def embed(self, images: Tensor) -> Tensor:
        """Unit features of the encoder."""
        return F.normalize(self.encoder(images), dim=1)


def required_classes(classes: tuple[str, ...] | None, task: str, needs: str) -> tuple[str, ...]:
    """The classes of a source, or a `UsageError` that says what a task needs."""
    if not classes:
        raise UsageError(f"task '{task}' needs {needs}, and the data have none")
    return classes
