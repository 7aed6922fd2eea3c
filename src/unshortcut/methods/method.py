"""What a method is: an ordinary LightningModule that asks for its views by name."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import torch
from lightning.pytorch import LightningModule
from torch import Tensor
from torch.optim import Optimizer

from unshortcut.distributed import rank
from unshortcut.methods.optimization import (
    OptimizerSettings,
    ScheduleSettings,
    build_optimizer,
    rate_factor,
    set_rate,
)
from unshortcut.models.encoder import Encoder
from unshortcut.parts import PartOf
from unshortcut.randomness import torch_generator, torch_seed
from unshortcut.views.transform import ViewTransform

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class TrainingContext:
    """What a method needs to know of its run besides its own settings."""

    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    seed: int = 0
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD
    images: int | None = None
    """How many the data set has; None where nothing is to be trained."""
    classes: int | None = None
    """How many the labels name; None where there are no labels."""


class MethodSettings(ABC):
    """What a recipe says of a method: a frozen dataclass, found by its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Method":
        """The method around an encoder."""

    @abstractmethod
    def view_transforms(self) -> dict[str, ViewTransform]:
        """The views that the method asks for, by name."""

    def check(self, images: int, sync_batch_norm: bool) -> None:
        """Refuse, before a run begins, what this method cannot do.

        `images` is how many a device sees at a time; `sync_batch_norm` whether batch statistics
        are to be taken over all devices.
        """
        return


AnyMethod = Annotated[MethodSettings, PartOf("unshortcut.methods", MethodSettings, "method")]
"""A field that holds a method's settings."""


@dataclass
class Batch:
    """What a method sees of a batch of N images."""

    views: Mapping[str, Tensor]
    """Named, normalized views, (N, 3, H, W) each."""
    index: Tensor | None = None
    """(N,) positions of the images in the data set, for methods that remember single images."""
    label: Tensor | None = None
    """(N,) classes, -1 where there is none, for methods that are told them."""
    metadata: Mapping[str, Tensor] = field(default_factory=dict)
    """(N, k) bool by view: what its transform tells of it, for methods that ask for such views."""


@dataclass
class StepOutput:
    """What one training step returns: the loss, the embeddings, and metrics for the log."""

    loss: Tensor
    """Scalar."""
    embeddings: Tensor
    """(N, D) unit rows."""
    metrics: dict[str, Tensor] = field(default_factory=dict)


class Method(LightningModule, ABC):
    """Encoders and an loss. A batch is `{"views": {name: (N, 3, H, W)}, …}`.

    Views of uint8 are scaled and normalized on the device; float views are taken as they are.
    Randomness inside the model is keyed by (seed, batch, rank), so a resumed run repeats it.
    """

    batches_seen: Tensor
    pixel_scale: Tensor
    pixel_shift: Tensor
    last: StepOutput
    """What the last training step gave."""

    def __init__(self, encoder: Encoder, training: TrainingContext | None) -> None:
        super().__init__()
        self.training_context = training or TrainingContext()
        self.encoder = encoder
        encoder.set_normalization(self.training_context.mean, self.training_context.std)
        self.register_buffer("batches_seen", torch.zeros((), dtype=torch.long))
        shape = (1, 3, 1, 1)
        scale = 255 * torch.tensor(self.training_context.std).view(shape)
        shift = torch.tensor(self.training_context.mean).view(shape) * 255 / scale
        self.register_buffer("pixel_scale", 1 / scale, persistent=False)
        self.register_buffer("pixel_shift", shift, persistent=False)

    @abstractmethod
    def loss(self, batch: Batch) -> StepOutput:
        """The loss of a batch."""

    @abstractmethod
    def embed(self, images: Tensor) -> Tensor:
        """Normalized images (N, 3, H, W) to unit rows (N, D) in the space of the loss."""

    @property
    def spaces(self) -> tuple[str, ...]:
        """Names of the method's embedding spaces, where it has several."""
        return ()

    def after_backward(self) -> None:
        """Called once the gradient of the last `loss` exists."""
        return

    def forward(self, images: Tensor) -> Tensor:
        """Features (N, dim) of normalized images: what is exported and probed."""
        features: Tensor = self.encoder(images)
        return features

    def normalize(self, view: Tensor) -> Tensor:
        """uint8 (N, 3, H, W) to what the network sees; floats are taken as normalized already."""
        if view.dtype != torch.uint8:
            return view
        scale, shift = self.pixel_scale, self.pixel_shift
        return (view.to(scale.dtype) * scale - shift).contiguous(memory_format=torch.channels_last)

    def step_generator(self, purpose: str) -> torch.Generator:
        """Randomness of this batch that all ranks share."""
        return torch_generator(self.training_context.seed, int(self.batches_seen), purpose)

    @property
    def progress(self) -> float:
        """The share of the training that is done, in optimizer steps; 0 without a trainer."""
        trainer = self._trainer
        if trainer is None:
            return 0.0
        epochs = self.training_context.schedule.epochs
        return min(trainer.global_step / (self._steps_per_epoch() * epochs), 1.0)

    @property
    def starts_step(self) -> bool:
        """Whether this batch is the first whose gradient goes into the next optimizer step."""
        accumulated = self._trainer.accumulate_grad_batches if self._trainer else 1
        return int(self.batches_seen) % accumulated == 0

    def training_step(self, batch: Mapping[str, Any], batch_idx: int) -> Tensor:
        views = {name: self.normalize(view) for name, view in batch["views"].items()}
        metadata = batch.get("metadata", {})
        self.last = self.loss(Batch(views, batch.get("index"), batch.get("label"), metadata))
        if self._trainer is not None:
            metrics = {"loss": self.last.loss.detach(), **self.last.metrics}
            self.log_dict(metrics, batch_size=len(self.last.embeddings))
        return self.last.loss

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        seed = self.training_context.seed
        torch.manual_seed(torch_seed(seed, int(self.batches_seen), rank(), "in-model"))
        # A function of the step, and not a scheduler with a state of its own to restore.
        step, per_epoch = self.trainer.global_step, self._steps_per_epoch()
        set_rate(
            self.trainer.optimizers[0], rate_factor(self.training_context.schedule, step, per_epoch)
        )

    def _steps_per_epoch(self) -> int:
        return math.ceil(self.trainer.num_training_batches / self.trainer.accumulate_grad_batches)

    def on_after_backward(self) -> None:
        self.after_backward()
        self.batches_seen += 1

    def configure_optimizers(self) -> Optimizer:
        return build_optimizer(self, self.training_context.optimizer)


def method_of(module: LightningModule) -> Method:
    """The method that a callback is handed."""
    if not isinstance(module, Method):
        raise TypeError(f"expected a method of unshortcut, got {type(module).__name__}")
    return module
