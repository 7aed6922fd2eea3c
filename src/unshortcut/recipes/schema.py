"""The schema of a recipe: all settings of a run in one validated document."""

from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from unshortcut.errors import UsageError
from unshortcut.methods.method import AnyMethod, MethodSettings, TrainingContext
from unshortcut.methods.optimization import OptimizerSettings, ScheduleSettings
from unshortcut.models.encoder import EncoderSettings
from unshortcut.parts import build
from unshortcut.recipes.label_noise import LabelNoise
from unshortcut.recipes.phases import Phase, check_names, of_phase
from unshortcut.recipes.views import Strict, ViewSettings
from unshortcut.views.plan import ViewPlan


class DataSettings(Strict):
    """The training data and the batch size."""

    name: str | None = None
    """The data set that the recipe is made for; `--data` gives another one, or its path."""
    filtered_copy: str | None = None
    """A copy of the data made by `unshortcut filter`, to train on in addition to the data."""
    proposals: str | None = None
    """Boxes made by `unshortcut propose`, for views.objects; by default the annotated ones."""
    epoch: Literal["images", "objects"] = "images"
    """Whether an epoch has one item per image, or one per object, as object-aware cropping was
    published; for views.objects."""
    label_noise: LabelNoise | None = None
    """Labels to corrupt at random, all but those of a trusted part of the images."""
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
    init: str | None = None
    """A model whose weights to start from, as in `load_model`; `--init` gives another one."""
    method: AnyMethod
    optimizer: OptimizerSettings = OptimizerSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    training: TrainingSettings = TrainingSettings()
    phases: list[Phase] = Field(default_factory=list)
    """Trainings one after the other, each from the weights of the one before."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.views.filtered_copy is not None and self.data.filtered_copy is None:
            raise UsageError(
                "views.filtered_copy is for the images of data.filtered_copy: set both"
            )
        if self.views.objects is None:
            for key in ("proposals", "epoch"):
                if getattr(self.data, key) != DataSettings.model_fields[key].default:
                    raise UsageError(f"data.{key} is for views of objects: set views.objects too")
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
        noise = self.data.label_noise
        if self.method.corrects_labels and (noise is None or not noise.gold):
            raise UsageError(
                f"method '{self.method.name}' needs trusted labels: set data.label_noise with a "
                "gold fraction above 0"
            )
        self.view_plan()
        self.resolved_phases()
        return self

    @model_serializer(mode="wrap")
    def _without_unused(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """All keys, but `init` and `phases` only in recipes that have them."""
        values: dict[str, Any] = handler(self)
        unused = [key for key in ("init", "phases") if not getattr(self, key)]
        return {key: value for key, value in values.items() if key not in unused}

    def resolved_phases(self) -> list["ResolvedPhase"]:
        """The recipe of each phase; empty without phases. Raises `UsageError`."""
        check_names(self.phases)
        values = self.model_dump(mode="json") if self.phases else {}
        found: list[ResolvedPhase] = []
        for phase in self.phases:
            with of_phase(phase.name):
                own = phase.values(values)
                if not found:
                    own.setdefault("init", self.init)
                recipe = build(Recipe, own, "recipe")
                if recipe.phases:
                    raise UsageError("a phase has no phases of its own")
                if not recipe.method.has_encoder:
                    raise UsageError(f"method '{recipe.method.name}' has no encoder to go on with")
                continues = bool(found) and not phase.states_init
                if continues and recipe.encoder.trained() != found[-1].recipe.encoder.trained():
                    before = found[-1].phase.name
                    raise UsageError(
                        f"the encoder is not that of '{before}', whose weights it starts from; "
                        "state 'init' to start from others, or null to start anew"
                    )
                classifier = bool(found) and found[-1].recipe.method.has_classifier
                if recipe.method.corrects_labels and not classifier:
                    raise UsageError(needs_classifier(recipe.method))
                found.append(ResolvedPhase(phase, recipe, continues))
        return found

    @property
    def total_epochs(self) -> int:
        """Epochs of all phases."""
        phases = self.resolved_phases()
        return sum(phase.recipe.schedule.epochs for phase in phases) or self.schedule.epochs

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
        unused = self.method.unused_views()
        return ViewPlan(
            self.method.view_transforms(),
            views.augmentations,
            {name: own for name, own in views.overrides.items() if name not in unused},
            views.filtered_copy,
            views.object_views(),
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


def needs_classifier(method: MethodSettings) -> str:
    """What is missing where a method that corrects labels follows no classifier."""
    return (
        f"method '{method.name}' needs the classifier of a phase before it, which is trained on "
        "the untrusted labels, as in the recipe glc-shapes"
    )


@dataclass(frozen=True)
class ResolvedPhase:
    """A phase with the recipe that it trains by."""

    phase: Phase
    recipe: Recipe
    """The recipe with the changes of the phase, and without phases."""
    continues: bool
    """Whether it starts from the weights of the phase before."""
