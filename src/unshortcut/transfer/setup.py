"""How a protocol is applied to a model: its network, its views and its evaluation."""

from dataclasses import dataclass

import torch

from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.optimization import ScheduleSettings
from unshortcut.randomness import torch_seed
from unshortcut.transfer.data import TaskData
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.protocol import Protocol
from unshortcut.transfer.start import Start
from unshortcut.transfer.task import Task
from unshortcut.transfer.views import TrainingView, evaluation_view


@dataclass(frozen=True)
class Setup:
    """A protocol and the model that it fine-tunes."""

    protocol: Protocol
    start: Start

    @property
    def preprocessing(self) -> Preprocessing:
        """How images are prepared for the trained network."""
        views = self.protocol.views
        own = {"size": views.size, "crop_share": views.crop_share}
        stated = {key: value for key, value in own.items() if value is not None}
        return self.start.preprocessing.model_copy(update=stated)

    def build(self, data: TaskData) -> Task:
        """The encoder with a new head, whose weights depend on the seed alone."""
        protocol = self.protocol
        context = TrainingContext(
            protocol.optimizer,
            ScheduleSettings(epochs=1),
            protocol.seed,
            self.preprocessing.mean,
            self.preprocessing.std,
            num_images=len(data.train),
            num_classes=len(data.classes),
            size=protocol.views.size,
        )
        if not protocol.task.dense:
            self._check_size()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(torch_seed(protocol.seed, "weights"))
            task = protocol.task.build(self.start.encoder, data.classes, context)
        task.plan(protocol.train, protocol.schedule)
        task.train()  # a model is loaded in eval mode, which Lightning would leave as it is
        return task

    def _check_size(self) -> None:
        """Raise `UsageError` for images of a size that the encoder does not take."""
        side, encoder = self.preprocessing.size, self.start.encoder
        mode = encoder.training
        try:
            with torch.no_grad():
                encoder.eval()(torch.zeros(1, 3, side, side))
        except (AssertionError, RuntimeError, ValueError) as error:
            own = self.start.preprocessing.size
            raise UsageError(
                f"views.size: '{self.start.name}' is for images of {own} px and cannot take those "
                f"of {side} px: {error}"
            ) from None
        finally:
            encoder.train(mode)

    def training_view(self) -> TrainingView:
        views = self.protocol.views
        return TrainingView(Pipeline(views.augmentations), views.min_visible)

    def evaluation(self, source: ImageSource) -> Evaluation:
        """How a source is evaluated on."""
        views, ready = self.protocol.views, self.preprocessing
        task = self.protocol.task
        if task.crops > 1:
            return Evaluation(source, self.training_view(), ready, crops=task.crops)
        view = evaluation_view(task.dense, ready.size, ready.crop_share, views.longest)
        return Evaluation(source, view, ready)
