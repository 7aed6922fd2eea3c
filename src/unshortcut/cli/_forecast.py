"""The output of `unshortcut pretrain --dry-run`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from unshortcut.recipes.schema import Recipe
    from unshortcut.training.forecasting import Forecast

_BLOCKS = "▁▂▃▄▅▆▇█"
_CURVE = 48


def show_forecast(
    recipe: str,
    data: str | None,
    sets: Sequence[str],
    devices: int,
    init: str | None,
    num_images: int | None,
    images_per_second: float | None,
) -> None:
    """Print what a run will be, one line per fact; the facts of phases one after the other."""
    from unshortcut.recipes.load import load_recipe
    from unshortcut.training.forecasting import forecast, forecast_phases

    settings = load_recipe(recipe, sets)
    options: dict[str, Any] = {
        "devices": devices,
        "init": init,
        "num_images": num_images,
        "images_per_second": images_per_second,
    }
    table = Table.grid(padding=(0, 2))
    for name, text in _about(recipe, settings):
        table.add_row(f"[bold]{name}[/]", escape(text))
    phases = forecast_phases(settings, data, **options) if settings.phases else []
    for found in phases or [forecast(settings, data, **options)]:
        for name, text in lines(found):
            table.add_row(f"[bold]{name}[/]", escape(text))
    if phases:
        table.add_row("[bold]all phases[/]", escape(_total(phases)))
    Console(highlight=False).print(table)


def _about(name: str, recipe: "Recipe") -> Iterator[tuple[str, str]]:
    yield "recipe", f"{name}: {recipe.summary}" if recipe.summary else name
    if recipe.paper is not None:
        metrics = [f"{key} {value:g}" for key, value in recipe.paper.metrics.items()]
        yield "paper", ": ".join([recipe.paper.where, *([", ".join(metrics)] if metrics else [])])


def _total(phases: Sequence["Forecast"]) -> str:
    steps = f"{sum(found.steps for found in phases):,} steps"
    hours = [found.hours for found in phases if found.hours is not None]
    return f"{steps}, {sum(hours):,.1f} hours" if len(hours) == len(phases) else steps


def lines(found: "Forecast") -> Iterator[tuple[str, str]]:
    """Names of facts and sentences about them."""
    recipe = found.recipe
    if found.phase is not None:
        yield "phase", found.phase
    yield "data", _data(found)
    yield "batch", _batch(found)
    if recipe.training.sync_batch_norm and found.devices > 1:
        yield "batch norm", f"over {found.images_per_group} images, on all devices together"
    elif found.batch_norm_groups > 1:
        groups = f"{found.batch_norm_groups} groups over all devices"
        yield "batch norm", f"over {found.images_per_group} images: {groups}"
    epochs = f"{recipe.schedule.epochs:,} {'epoch' if recipe.schedule.epochs == 1 else 'epochs'}"
    yield "steps", f"{found.steps:,}: {epochs} of {found.steps_per_epoch:,} steps"
    yield "learning rate", sparkline(found.learning_rates(_CURVE))
    first, last = found.learning_rate(0), found.learning_rate(found.steps - 1)
    yield "", f"{first:.3g} at first, {found.peak_learning_rate:.3g} at most, {last:.3g} at last"
    yield from _views(found)
    yield "time", _time(found)
    yield from _memory(found)
    for warning in found.warnings:
        yield "warning", warning
    if found.obstacle is not None:
        yield "this machine", f"cannot execute the run: {found.obstacle}"


def sparkline(values: Sequence[float]) -> str:
    """A curve of block characters, from 0 to the largest value."""
    top = max(values) or 1.0
    return "".join(_BLOCKS[min(int(value / top * len(_BLOCKS)), 7)] for value in values)


def _data(found: "Forecast") -> str:
    data = found.data
    classes = "without labels" if data.num_classes is None else f"{data.num_classes:,} classes"
    known = {
        "opened": "opened; unreadable images included",
        "stated": f"not on this machine; the size is that of {data.origin}",
        "given": "not opened; the size was given",
    }[data.known_from]
    return f"{data.name}: {data.num_images:,} images, {classes} ({known})"


def _batch(found: "Forecast") -> str:
    parts = [f"{found.devices} {'device' if found.devices == 1 else 'devices'}"]
    if found.recipe.training.accumulate > 1:
        parts.append(f"{found.recipe.training.accumulate} accumulated batches")
    parts.append(f"{found.device_batch:,} images")
    return f"{found.recipe.data.batch_size:,} images per step: {' × '.join(parts)}"


def _views(found: "Forecast") -> Iterator[tuple[str, str]]:
    yield "views", f"{len(found.views)} per image: {', '.join(found.views)}"
    images = "the data" if found.data.known_from == "opened" else "made images of a typical size"
    cores = f"{found.view_cores} {'core' if found.view_cores == 1 else 'cores'}"
    one = f"{found.views_per_core:,.0f} measured on one core with {images}, times {cores}"
    yield "views made", f"{found.views_made:,.0f} a second on this machine: {one}"
    if found.speed is not None and found.views_needed is not None:
        speed = _rate(found.speed.images_per_second)
        waits = found.views_made < found.views_needed
        answer = "; training would wait for the views of this machine" if waits else ""
        yield "views needed", f"{found.views_needed:,.0f} a second at {speed}{answer}"


def _time(found: "Forecast") -> str:
    if found.speed is None or found.hours is None:
        return "unknown; state --images-per-second"
    rate = _rate(found.speed.images_per_second)
    batch = found.speed.measured_batch
    how = "as given" if batch is None else f"measured on this machine with batches of {batch}"
    rest = "without waiting for views, kNN and checkpoints"
    return f"{found.hours:,.1f} hours at {rate}, {how}; {rest}"


def _memory(found: "Forecast") -> Iterator[tuple[str, str]]:
    size = found.footprint
    parts = [f"{size.num_trained:,} parameters {_megabytes(size.trained)}"]
    parts.append(f"gradients {_megabytes(size.trained)}")
    parts.append(f"optimizer {_megabytes(size.optimizer)}")
    if size.frozen:
        parts.append(f"momentum copies and fixed weights {_megabytes(size.frozen)}")
    for memory in size.memories:
        shape = f"{memory.rows:,} × {memory.dim}"
        parts.append(f"{memory.kind} of {shape} {_megabytes(memory.num_bytes)}")
    yield "memory", f"{_megabytes(size.device)} on each device, besides activations"
    yield "", ", ".join(parts)
    kept = "one is kept, and a second exists while it is written"
    yield "checkpoints", f"{_megabytes(size.checkpoint)} each on disk; {kept}"


def _rate(images_per_second: float) -> str:
    digits = 0 if images_per_second >= 100 else 1 if images_per_second >= 1 else 3
    return f"{images_per_second:,.{digits}f} images a second"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
