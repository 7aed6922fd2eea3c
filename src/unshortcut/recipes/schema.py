"""What a recipe may say: all of a run in one validated document."""

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
    """What is trained on, and how many at a time."""

    name: str | None = None
    """The data set that the recipe is made for; `--data` gives another, or its place."""
    double: str | None = None
    """A copy of the data, as `unshortcut filter` makes it, that is trained on beside them."""
    batch_size: int = Field(256, ge=2)
    """Images an optimizer step, over all devices and accumulated batches."""
    workers: int | None = Field(None, ge=0)
    """Processes that make views; by default as many as there are cores to spare."""


class ViewSettings(Strict):
    """How the views of an image are made, and how images are shown to a frozen encoder."""

    size: int = Field(224, ge=8)
    """Side of a view; every augmentation that has a size of its own takes it unless told."""
    augmentations: list[AnyAugmentation]
    overrides: dict[str, list[AnyAugmentation]] = {}
    """Other augmentations for single views, by the view's name."""
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    crop_share: float = Field(0.875, gt=0, le=1)
    """In evaluation: the center crop's side over the shorter side of the resized image."""

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
    """How the run goes on the machine."""

    accumulate: int = Field(1, ge=1)
    """Batches whose gradients make one step; each holds batch_size / accumulate images."""
    precision: Literal["32-true", "16-mixed", "bf16-mixed"] = "32-true"
    sync_batch_norm: bool = False
    """Batch statistics over all devices; not for MoCo, whose shuffling it would undo."""
    gradient_clip: float | None = Field(None, gt=0)
    checkpoint_minutes: float = Field(10, gt=0)
    """A checkpoint at least so often, besides the one after each epoch."""
    checkpoint_steps: int | None = Field(None, ge=1)
    """A checkpoint every so many optimizer steps as well."""
    log_steps: int = Field(10, ge=1)
    knn_epochs: int = Field(10, ge=0)
    """kNN accuracy every so many epochs, and at the end, where there are labels; 0 for never."""


class PaperRow(Strict):
    """The row of a paper that a recipe stands for."""

    where: str
    metrics: dict[str, float] = {}


class Recipe(Strict):
    """All of a run: data, views, method, encoder, optimizer, schedule."""

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
        """What the method needs to know of the run, on data of so many images and classes."""
        views = self.views
        return TrainingContext(
            self.optimizer, self.schedule, self.seed, views.mean, views.std, num_images, num_classes
        )
