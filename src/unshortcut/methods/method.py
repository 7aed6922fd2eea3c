"""The base of methods, which are LightningModules that name the views they need."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import torch
from lightning.pytorch import LightningModule
from torch import Tensor, nn
from torch.optim import Optimizer

from unshortcut.data.source import ImageSource
from unshortcut.distributed import rank
from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.methods import optimization
from unshortcut.methods.optimization import OptimizerSettings, ScheduleSettings
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.checkpointing import recomputation
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.image_size import check_image_size
from unshortcut.models.loaded import LoadedModel
from unshortcut.parts import PartOf
from unshortcut.randomness import torch_generator, torch_seed
from unshortcut.views.plan import OBJECTS
from unshortcut.views.transform import ViewTransform


@dataclass(frozen=True)
class TrainingContext:
    """What a method needs to know about its run in addition to its own settings."""

    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    seed: int = 0
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD
    num_images: int | None = None
    """Number of images in the data set; None if nothing is to be trained."""
    num_classes: int | None = None
    """Number of classes; None if the data have no labels."""
    size: int | None = None
    """Side of a view in pixels (`views.size`)."""


class MethodSettings(ABC):
    """Settings of a method as fields (see `parts.settings`), found by its `name`."""

    name: ClassVar[str]
    has_encoder: ClassVar[bool] = True
    """Whether the method trains an encoder; otherwise `build` is given a `NoEncoder`."""
    has_classifier: ClassVar[bool] = False
    """Whether the method trains a classifier that is exported with the encoder."""
    corrects_labels: ClassVar[bool] = False
    """Whether the method needs data with trusted labels (`data.label_noise`), and the classifier
    of the phase before, which `Method.prepare` is given."""
    smallest_batch: ClassVar[int] = 2
    """Images that a batch must have at least."""

    @abstractmethod
    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "Method":
        """The method with an encoder."""

    @abstractmethod
    def view_transforms(self) -> dict[str, ViewTransform]:
        """The views that the method needs, by name."""

    def check_encoder(self, encoder: EncoderSettings) -> None:
        """Raise a `UsageError` for an encoder that the method cannot train, before it is built."""
        return

    def unused_views(self) -> frozenset[str]:
        """Views that it would need with other settings; a recipe may have augmentations of them."""
        return frozenset()

    def check(self, batch: DeviceBatch) -> None:
        """Raise a `UsageError` before a run starts if the method cannot work with its settings."""
        return

    def warnings(self, batch: DeviceBatch) -> list[str]:
        """What the user should know before a run starts, a sentence each; the run is possible."""
        return []


AnyMethod = Annotated[MethodSettings, PartOf("unshortcut.methods", MethodSettings, "method")]
"""A field that holds a method's settings."""


class Method(LightningModule, ABC):
    """Encoders and a loss. A batch is `{"views": {name: (N, 3, H, W)}, …}`.

    Views of uint8 are scaled and normalized on the device; float views are used as they are.
    Randomness in the model is keyed by (seed, batch, rank), so that a resumed run repeats it.
    """

    can_collapse: bool = True
    """Whether embeddings that are all alike could solve the task, of which the log then warns."""
    encodes_views: bool = True
    """Whether views of `views.size` pixels go through the encoder whole, not in tiles."""
    batches_seen: Tensor
    pixel_scale: Tensor
    pixel_shift: Tensor
    last: StepOutput
    """The output of the last training step."""

    def __init__(self, encoder: Encoder, training: TrainingContext | None) -> None:
        super().__init__()
        self.training_context = training or TrainingContext()
        self.encoder = encoder
        if self.encodes_views:
            check_image_size(encoder.model, self.training_context.size)
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
        """Embed normalized images (N, 3, H, W) as unit rows (N, D) in the space of the loss."""

    @property
    def spaces(self) -> tuple[str, ...]:
        """Names of the embedding spaces of a method with several of them."""
        return ()

    @property
    def linear_classifier(self) -> nn.Linear | None:
        """The classifier on the encoder's features, for a method that trains one to be exported."""
        return None

    @property
    def joint_networks(self) -> tuple[nn.Module, ...]:
        """Networks of a step that call more of an encoder than its forward pass."""
        return ()

    def prepare(self, before: LoadedModel, source: ImageSource) -> None:
        """Learn from the model of the phase before and the training images, before the first step.

        Called for methods that correct labels, and not again when a run is resumed from a
        checkpoint: what it finds is kept in buffers.
        """
        return

    def optimized(self) -> Sequence[tuple[nn.Module, OptimizerSettings]]:
        """What is trained, and how: an optimizer for each entry."""
        return [(self, self.training_context.optimizer)]

    @property
    def makes_pictures(self) -> bool:
        """Whether `pictures` gives any."""
        return False

    def pictures(self, views: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Images (N, 3, H, W), uint8 by title, that show what the method makes of normalized views.

        They are drawn after each epoch; a method that makes no images has none.
        """
        return {}

    def export(self, folder: Path, about: Mapping[str, Any]) -> None:
        """Write what is trained besides the encoder to the run folder.

        `about` is what every card says: `recipe`, `versions` and `commit`.
        """
        return

    def after_backward(self) -> None:
        """Called after the backward pass of the last `loss`."""
        return

    def forward(self, images: Tensor) -> Tensor:
        """Features (N, dim) of normalized images, which are exported and probed."""
        features: Tensor = self.encoder(images)
        return features

    def normalize(self, view: Tensor) -> Tensor:
        """Scale and normalize a uint8 view (N, 3, H, W); float views are normalized already."""
        if view.dtype != torch.uint8:
            return view
        scale, shift = self.pixel_scale, self.pixel_shift
        normalized = view.to(scale.dtype) * scale - shift
        return normalized.contiguous(memory_format=self.encoder.memory_format)

    def to_pixels(self, images: Tensor) -> Tensor:
        """Normalized images (N, 3, H, W) on the scale of 0 to 255, the inverse of `normalize`."""
        return (images + self.pixel_shift) / self.pixel_scale

    def step_generator(self, purpose: str) -> torch.Generator:
        """A random generator for this batch and a purpose, the same on all ranks."""
        return torch_generator(self.training_context.seed, int(self.batches_seen), purpose)

    @property
    def progress(self) -> float:
        """The fraction of optimizer steps that are completed; 0 without a trainer."""
        trainer = self._trainer
        if trainer is None:
            return 0.0
        epochs = self.training_context.schedule.epochs
        return min(trainer.global_step / (self._steps_per_epoch() * epochs), 1.0)

    @property
    def starts_step(self) -> bool:
        """Whether this batch is the first of those accumulated for the next optimizer step."""
        accumulated = self._trainer.accumulate_grad_batches if self._trainer else 1
        return int(self.batches_seen) % accumulated == 0

    def training_step(self, batch: Mapping[str, Any], batch_idx: int) -> Tensor:
        read = self.read(batch)
        self.last = self.loss(read)
        if OBJECTS in read.metadata:
            missing = 1 - read.metadata[OBJECTS].float().mean()
            self.last.metrics["without_object"] = missing
        if self._trainer is not None:
            self.log_last(len(read))
        return self.last.loss

    def read(self, batch: Mapping[str, Any]) -> Batch:
        """A batch of the loader with normalized views."""
        views = {name: self.normalize(view) for name, view in batch["views"].items()}
        also = {key: batch.get(key) for key in ("multilabel", "regions", "sizes", "trusted")}
        metadata = batch.get("metadata", {})
        return Batch(views, batch.get("index"), batch.get("label"), metadata, **also)

    def transfer_batch_to_device(
        self, batch: Any, device: torch.device, dataloader_idx: int
    ) -> Any:
        # Annotations stay in memory as NumPy arrays; Lightning would refuse frozen dataclasses.
        annotated = isinstance(batch, dict) and batch.get("regions") is not None
        regions = {"regions": batch["regions"]} if annotated else {}
        rest = {**batch, "regions": None} if annotated else batch
        moved = super().transfer_batch_to_device(rest, device, dataloader_idx)
        return {**moved, **regions} if annotated else moved

    def log_last(self, count: int) -> None:
        """Give the output of the last step, of `count` images, to Lightning."""
        self.log_dict({"loss": self.last.loss.detach(), **self.last.metrics}, batch_size=count)

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        seed = self.training_context.seed
        torch.manual_seed(torch_seed(seed, int(self.batches_seen), rank(), "in-model"))
        # A function of the step has no state to restore, unlike a scheduler.
        step, per_epoch = self.trainer.global_step, self._steps_per_epoch()
        factor = self.lr_factor(step, per_epoch)
        for optimizer in self.trainer.optimizers:
            optimization.set_lr(optimizer, factor)

    def lr_factor(self, step: int, steps_per_epoch: int) -> float:
        """The learning rate after `step` optimizer steps, relative to its full value."""
        return optimization.lr_factor(self.training_context.schedule, step, steps_per_epoch)

    def _steps_per_epoch(self) -> int:
        return math.ceil(self.trainer.num_training_batches / self.trainer.accumulate_grad_batches)

    def backward(self, loss: Tensor, *args: Any, **kwargs: Any) -> None:
        # What is computed forward in a backward pass is only what gradient checkpointing repeats.
        with recomputation(self.encoder):
            super().backward(loss, *args, **kwargs)

    def on_after_backward(self) -> None:
        self.after_backward()
        self.batches_seen += 1

    def configure_optimizers(self) -> list[Optimizer]:
        return [optimization.build_optimizer(*part) for part in self.optimized()]


def method_of(module: LightningModule) -> Method:
    """The method that a callback receives as a module."""
    if not isinstance(module, Method):
        raise TypeError(f"expected a method of unshortcut, got {type(module).__name__}")
    return module
