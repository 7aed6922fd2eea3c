"""The schema of a recipe: all settings of a run in one validated document."""

from dataclasses import fields
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from unshortcut.augmentations.augmentation import AUGMENTATIONS, AnyAugmentation
from unshortcut.errors import UsageError
from unshortcut.methods.method import IMAGENET_MEAN, IMAGENET_STD, AnyMethod, TrainingContext
from unshortcut.methods.optimization import OptimizerSettings, ScheduleSettings
from unshortcut.models.encoder import EncoderSettings
from unshortcut.views.plan import ViewPlan


class Strict(BaseModel):
    """Settings in which a misspelled key is an error."""

    model_config = ConfigDict(extra="forbid")


class DataSettings(Strict):
    """The training data and the batch size."""

    name: str | None = None
    """The data set that the recipe is made for; `--data` gives another one, or its path."""
    filtered_copy: str | None = None
    """A copy of the data made by `unshortcut filter`, to train on in addition to the data."""
    batch_size: int = Field(256, ge=2)
    """Images per optimizer step, over all devices and accumulated batches."""
    workers: int | None = Field(None, ge=0)
    """Worker processes that make views; by default chosen by the number of cores."""


class ViewSettings(Strict):
    """How views are made for training, and how images are prepared for evaluation."""

    size: int = Field(224, ge=8)
    """Side of a view in pixels; the default of every augmentation that has a size."""
    augmentations: list[AnyAugmentation]
    overrides: dict[str, list[AnyAugmentation]] = {}
    """Other augmentations for single views, by the name of the view."""
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    crop_share: float = Field(0.875, gt=0, le=1)
    """In evaluation, the side of the center crop relative to the resized image's shorter side."""

    @model_validator(mode="before")
    @classmethod
    def _sizes(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        size = values.get("size", 224)
        overrides = values.get("overrides") or {}
        for entries in (values.get("augmentations"), *overrides.values()):
            _fill_sizes(entries, size)
        return values


def _fill_sizes(entries: Any, size: Any) -> None:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            if "size" not in entry and _has_size(entry.get("name")):
                entry["size"] = size
            _fill_sizes(entry.get("augmentations"), size)


def _has_size(name: Any) -> bool:
    if not isinstance(name, str):
        return False
    try:
        return any(field.name == "size" for field in fields(AUGMENTATIONS.find(name)))
    except UsageError:
        return False  # told when the augmentation is built


class TrainingSettings(Strict):
    """How a run is executed, saved and logged."""

    accumulate: int = Field(1, ge=1)
    """Batches per optimizer step; each has batch_size / accumulate images."""
    precision: Literal["32-true", "16-mixed", "bf16-mixed"] = "32-true"
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
    metrics: dict[str, float] = {}


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
        accumulate, batch = self.training.accumulate, self.data.batch_size
        if batch % accumulate:
            raise UsageError(
                f"data.batch_size {batch} must be a multiple of training.accumulate {accumulate}"
            )
        self.view_plan()
        return self

    def view_plan(self) -> ViewPlan:
        """The plan of the views that the method asks for."""
        views = self.views
        return ViewPlan(self.method.view_transforms(), views.augmentations, views.overrides)

    def training_context(
        self, num_images: int | None = None, num_classes: int | None = None
    ) -> TrainingContext:
        """What the method needs to know about the run and its data."""
        views = self.views
        return TrainingContext(
            self.optimizer, self.schedule, self.seed, views.mean, views.std, num_images, num_classes
        )
