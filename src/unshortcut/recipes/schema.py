"""The schema of a recipe: all settings of a run in one validated document."""

from typing import Literal, Self

from pydantic import Field, model_validator

from unshortcut.errors import UsageError
from unshortcut.methods.method import AnyMethod, TrainingContext
from unshortcut.methods.optimization import OptimizerSettings, ScheduleSettings
from unshortcut.models.encoder import EncoderSettings
from unshortcut.recipes.views import Strict, ViewSettings
from unshortcut.views.plan import ViewPlan


class DataSettings(Strict):
    """The training data and the batch size."""

    name: str | None = None
    """The data set that the recipe is made for; `--data` gives another one, or its path."""
    filtered_copy: str | None = None
    """A copy of the data made by `unshortcut filter`, to train on in addition to the data."""
    batch_size: int = Field(256, ge=1)
    """Images per optimizer step, over all devices and accumulated batches."""
    workers: int | None = Field(None, ge=0)
    """Worker processes that make views; by default chosen by the number of cores."""


class TrainingSettings(Strict):
    """How a run is executed, saved and logged."""

    accumulate: int = Field(1, ge=1)
    """Batches per optimizer step; each has batch_size / accumulate images."""
    precision: Literal["32-true", "16-mixed", "bf16-mixed"] = "32-true"
    """Mixed precision computes layers in 16 bits where that is safe; parameters stay float32."""
    compile: bool = False
    """Whether encoders are compiled by `torch.compile` in the first steps."""
    channels_last: bool = True
    """Whether images and weights are stored channels last, the faster layout for convolutions."""
    gradient_checkpointing: bool = False
    """Whether the trained encoder computes activations again in the backward pass, which takes
    less memory and one more forward pass."""
    sync_batch_norm: bool = False
    """Batch statistics over all devices; not for MoCo, where it would undo the shuffling."""
    gradient_clip: float | None = Field(None, gt=0)
    checkpoint_minutes: float = Field(10, gt=0)
    """Minutes between checkpoints, in addition to the one after each epoch."""
    checkpoint_steps: int | None = Field(None, ge=1)
    """Optimizer steps between checkpoints, if set."""
    log_steps: int = Field(10, ge=1)
    """Optimizer steps between log entries."""
    knn_epochs: int = Field(10, ge=0)
    """Epochs between measurements of kNN accuracy if there are labels; 0 for none."""


class PaperRow(Strict):
    """The row of a paper that a recipe reproduces."""

    where: str
    metrics: dict[str, float] = Field(default_factory=dict)


class Recipe(Strict):
    """All settings of a run: data, views, method, encoder, optimizer, schedule, training."""

    summary: str = ""
    paper: PaperRow | None = None
    seed: int = Field(0, ge=0)
    data: DataSettings = DataSettings()
    views: ViewSettings
    encoder: EncoderSettings = EncoderSettings()
    method: AnyMethod
    optimizer: OptimizerSettings = OptimizerSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    training: TrainingSettings = TrainingSettings()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.views.filtered_copy is not None and self.data.filtered_copy is None:
            raise UsageError(
                "views.filtered_copy is for the images of data.filtered_copy: set both"
            )
        accumulate, batch = self.training.accumulate, self.data.batch_size
        if batch < self.method.smallest_batch:
            raise UsageError(
                f"'data.batch_size' must be at least {self.method.smallest_batch} for method "
                f"'{self.method.name}', got {batch}"
            )
        if batch % accumulate:
            raise UsageError(
                f"data.batch_size {batch} must be a multiple of training.accumulate {accumulate}"
            )
        if self.training.compile and self.training.gradient_checkpointing:
            raise UsageError(
                "training.compile and training.gradient_checkpointing exclude each other: "
                "torch.compile itself chooses which activations to compute again"
            )
        if not self.method.has_encoder:
            self._check_without_encoder()
        self.view_plan()
        return self

    def _check_without_encoder(self) -> None:
        training = self.training
        for key, value in (
            ("encoder", self.encoder != EncoderSettings()),
            ("training.compile", training.compile),
            ("training.gradient_checkpointing", training.gradient_checkpointing),
        ):
            if value:
                raise UsageError(f"method '{self.method.name}' has no encoder: leave out '{key}'")

    def view_plan(self) -> ViewPlan:
        """The plan of the views that the method asks for."""
        views = self.views
        return ViewPlan(
            self.method.view_transforms(),
            views.augmentations,
            views.overrides,
            views.filtered_copy,
        )

    def training_context(
        self, num_images: int | None = None, num_classes: int | None = None
    ) -> TrainingContext:
        """What the method needs to know about the run and its data."""
        views = self.views
        return TrainingContext(
            self.optimizer,
            self.schedule,
            self.seed,
            views.mean,
            views.std,
            num_images,
            num_classes,
            views.size,
        )
