"""What a run will be, before it starts: data, batch, steps, learning rates, time and memory."""

import math
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from unshortcut.data.loader import check_batch
from unshortcut.data.naming import Data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.methods.optimization import lr_factor
from unshortcut.models.batchnorm import SplitBatchNorm
from unshortcut.models.checkpointing import checkpoint_gradients
from unshortcut.models.load import load_model
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.recipes.phases import of_phase
from unshortcut.recipes.schema import Recipe, TrainingSettings
from unshortcut.training.acceleration import check_hardware, device_type
from unshortcut.training.expected_data import ExpectedData, expected_data
from unshortcut.training.folder import RunFolder
from unshortcut.training.footprint import Footprint, footprint
from unshortcut.training.initial_weights import same_architecture
from unshortcut.training.machine import Machine, available_cores, find_machine
from unshortcut.training.phases import phase_runs
from unshortcut.training.pretraining import build_sized_method, check_method
from unshortcut.training.throughput import training_images_per_second, views_per_second

_MEASURED_BANK = 4096
"""Images that a measured method knows; a memory bank of all would take memory and no time."""


@dataclass(frozen=True)
class Speed:
    """Images trained on per second, over all devices."""

    images_per_second: float
    measured_batch: int | None = None
    """Batch size of the steps that were measured on this machine; None if the speed was given."""


@dataclass(frozen=True)
class Forecast:
    """A run as it would be; numbers that follow from others are properties."""

    recipe: Recipe
    data: ExpectedData
    devices: int
    workers: int
    """Processes that make views, for each device; with none, the training process makes them."""
    view_cores: int
    """Cores that make views at the same time if the run is on machines such as this one."""
    batch_norm_groups: int
    """Groups of batch norm over all devices, which normalize on their own."""
    footprint: Footprint
    views_per_core: float
    """Views per second that one core of this machine makes."""
    speed: Speed | None
    """None if it was not given and cannot be measured."""
    warnings: tuple[str, ...]
    """What the run would warn of before it starts."""
    obstacle: str | None
    """Why this machine cannot execute the run, if so."""
    phase: str | None = None
    """Name of the phase, if the run has phases."""

    @property
    def device_batch(self) -> int:
        """Images that one device processes at once."""
        return self.recipe.data.batch_size // (self.devices * self.recipe.training.accumulate)

    @property
    def images_per_group(self) -> int:
        """Images over which batch norm computes its statistics, at least."""
        return self.device_batch * self.devices // self.batch_norm_groups

    @property
    def steps_per_epoch(self) -> int:
        """Optimizer steps; images that do not fill the last one are left out."""
        return self.data.num_images // self.recipe.data.batch_size

    @property
    def steps(self) -> int:
        return self.steps_per_epoch * self.recipe.schedule.epochs

    def learning_rate(self, step: int) -> float:
        """The learning rate of an optimizer step, starting at 0."""
        factor = lr_factor(self.recipe.schedule, step, self.steps_per_epoch)
        return self.recipe.optimizer.lr * factor

    def learning_rates(self, count: int) -> list[float]:
        """The learning rates of `count` steps that are spread evenly over the run."""
        last = self.steps - 1
        return [self.learning_rate(round(last * i / max(count - 1, 1))) for i in range(count)]

    @property
    def peak_learning_rate(self) -> float:
        """The largest learning rate, which every schedule has at the end of its warm-up."""
        warm = math.ceil(self.recipe.schedule.warmup_epochs * self.steps_per_epoch)
        return max(map(self.learning_rate, {0, min(warm, self.steps - 1), self.steps - 1}))

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views of each image."""
        return tuple(self.recipe.view_plan().transforms)

    @property
    def views_needed(self) -> float | None:
        """Views per second that training at this speed needs."""
        return None if self.speed is None else len(self.views) * self.speed.images_per_second

    @property
    def views_made(self) -> float:
        """Views per second that all workers make, each on a core of its own."""
        return self.views_per_core * self.view_cores

    @property
    def hours(self) -> float | None:
        """Hours of training, without waiting for views, kNN and checkpoints."""
        if self.speed is None:
            return None
        images = self.steps * self.recipe.data.batch_size
        return images / self.speed.images_per_second / 3600


def forecast(
    recipe: AnyRecipe,
    data: Data | None = None,
    *,
    sets: Iterable[str] = (),
    devices: int = 1,
    init: str | Path | None = None,
    num_images: int | None = None,
    images_per_second: float | None = None,
    seconds: float = 3,
) -> Forecast:
    """Tell what a run without phases will be; nothing is trained, downloaded or written.

    Args:
        recipe, data, sets, devices, init: as in `pretrain`, with the same errors. If the recipe's
            own data are not on this machine, the published size of the data set is used.
        num_images: the size of data that are not on this machine.
        images_per_second: images trained on per second, over all devices; measured if None.
        seconds: duration of each of the two measurements: making views, and training.
    """
    settings = load_recipe(recipe, sets)
    if settings.phases:
        raise UsageError("the recipe has phases; forecast_phases gives a forecast of each")
    start = settings.init if init is None else init
    machine = find_machine(devices)
    return _forecast(settings, data, machine, start, num_images, images_per_second, seconds)


def forecast_phases(
    recipe: AnyRecipe,
    data: Data | None = None,
    *,
    sets: Iterable[str] = (),
    devices: int = 1,
    init: str | Path | None = None,
    num_images: int | None = None,
    images_per_second: float | None = None,
    seconds: float = 3,
) -> list[Forecast]:
    """Tell what every phase of a run will be, with the arguments of `forecast`."""
    settings, machine = load_recipe(recipe, sets), find_machine(devices)
    found = []
    for phase in phase_runs(settings, RunFolder(Path()), init):
        with of_phase(phase.name):
            one = _forecast(
                phase.recipe,
                None if phase.resolved.phase.states_data else data,
                machine,
                None if phase.resolved.continues else phase.init,
                num_images,
                images_per_second,
                seconds,
            )
        found.append(replace(one, phase=phase.name))
    return found


def _forecast(
    settings: Recipe,
    data: Data | None,
    machine: Machine,
    init: str | Path | None,
    num_images: int | None,
    images_per_second: float | None,
    seconds: float,
) -> Forecast:
    training = settings.training
    machine.check_batch(settings.data.batch_size, training.accumulate)
    expected, source = expected_data(settings, data, num_images)
    check_batch(expected.num_images, settings.data.batch_size)
    # Shapes without values, unless there are weights to fit in.
    with torch.device("meta") if init is None else nullcontext():
        sizes = expected.num_images, expected.num_classes
        given = None if init is None else load_model(same_architecture(init))
        method = build_sized_method(settings, *sizes, given)
    warnings = check_method(method, settings, machine)
    obstacle = None
    try:
        check_hardware(training, machine)
    except UsageError as error:
        obstacle = str(error)
    device_batch = settings.data.batch_size // (machine.world_size * training.accumulate)
    speed = None if images_per_second is None else Speed(images_per_second)
    if speed is None and obstacle is None:
        speed = _measured(settings, expected, source, device_batch, machine.world_size, seconds)
    workers = settings.data.workers
    workers = machine.default_workers() if workers is None else workers
    return Forecast(
        recipe=settings,
        data=expected,
        devices=machine.world_size,
        workers=workers,
        view_cores=min(max(workers, 1) * machine.devices, available_cores()) * machine.nodes,
        batch_norm_groups=_batch_norm_groups(method, training, machine.world_size),
        footprint=footprint(method),
        views_per_core=views_per_second(source, settings, seconds),
        speed=speed,
        warnings=tuple(warnings),
        obstacle=obstacle,
    )


def _measured(
    recipe: Recipe,
    data: ExpectedData,
    source: ImageSource,
    batch_size: int,
    devices: int,
    seconds: float,
) -> Speed:
    """The speed of training steps on one device of this machine, times the number of GPUs."""
    kind = device_type()
    with torch.random.fork_rng(devices=[]):
        num_images = min(data.num_images, _MEASURED_BANK)
        method = build_sized_method(recipe, num_images, data.num_classes).to(kind)
        if recipe.training.gradient_checkpointing:
            checkpoint_gradients(method.encoder)
        rate, batch = training_images_per_second(method, recipe, source, batch_size, seconds)
    # Processes on a CPU share its cores, all of which were used.
    return Speed(rate * devices if kind == "cuda" else rate, batch)


def _batch_norm_groups(method: Method, training: TrainingSettings, devices: int) -> int:
    """The number of groups over all devices, each of which has at least one of its own."""
    if training.sync_batch_norm:
        return 1
    norms = (module for module in method.modules() if isinstance(module, SplitBatchNorm))
    return max(next((norm.groups for norm in norms), 1), devices)
