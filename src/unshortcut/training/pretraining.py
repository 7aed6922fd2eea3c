"""Pretraining: from a recipe and data to a trained, exported encoder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from unshortcut.data.failures import FailureLog
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import DeviceBatch, Method
from unshortcut.methods.optimization import build_optimizer
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.checkpointing import checkpoint_gradients
from unshortcut.models.encoder import Encoder, NoEncoder
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.randomness import torch_seed
from unshortcut.recipes.load import AnyRecipe, load_recipe, read_recipe, to_mapping, to_yaml
from unshortcut.recipes.schema import Recipe
from unshortcut.result import commit, public_name, versions, write_result
from unshortcut.training.acceleration import check_hardware
from unshortcut.training.fit import fit, preprocessing
from unshortcut.training.folder import RunFolder
from unshortcut.training.initial_weights import load_into, take_up_classifier
from unshortcut.training.logs import read_log
from unshortcut.training.machine import Machine, find_machine
from unshortcut.training.online_knn import OnlineKnn
from unshortcut.training.resume import require_same_run
from unshortcut.training.run_data import RunData, open_run_data
from unshortcut.views.sheet import view_sheet

_FINAL = ("loss", "embedding_std", "psnr", "knn")
"""Entries of the log whose last values are the metrics of a run."""


@dataclass(frozen=True)
class PretrainingRun:
    """A finished pretraining run."""

    folder: Path
    metrics: dict[str, float]

    def model(self) -> LoadedModel:
        """The trained encoder."""
        return load_model(self.folder)


def pretrain(
    recipe: AnyRecipe,
    data: str | Path | ImageSource | None = None,
    out: str | Path = "run",
    *,
    sets: Iterable[str] = (),
    devices: int = 1,
    init: str | Path | None = None,
    resume: bool = False,
    console: Console | None = None,
    command: str = "unshortcut pretrain",
) -> PretrainingRun:
    """Pretrain an encoder.

    Args:
        recipe: the name of a recipe, a YAML file, a mapping, or a `Recipe`.
        data: a folder, a tar file, shards, a name, or a source; by default the recipe's own.
        out: the run folder, which must be new or empty unless `resume` is set.
        sets: changes to the recipe, `key=value`, e.g. `schedule.epochs=10`.
        devices: number of devices, or processes on a CPU, that share each batch.
        init: a model whose encoder weights to start from, as in `load_model`: a run, an exported
            file, `timm:NAME`, or weights published by others (`timm:NAME@FILE`). A supervised run
            also takes up its classifier if it is for the same classes.
        resume: continue the run in `out`, to the same weights as without an interruption; if
            nothing has been written there yet, the run starts.
        command: the command to repeat; shown, with `--resume`, when the run is interrupted.
    """
    console = console or Console(stderr=True)
    settings = load_recipe(recipe, sets)
    folder, machine = RunFolder(Path(out)), find_machine(devices)
    leads = machine.is_first
    resumes = leads and folder.check(resume)
    machine.check_batch(settings.data.batch_size, settings.training.accumulate)
    check_hardware(settings.training, machine)
    run_data = open_run_data(settings, data, console, visible=leads)
    method = build_method(settings, init, run_data.source, console if leads else None)
    warnings = check_method(method, settings, machine)
    if leads:
        for warning in warnings:
            console.print(f"[yellow]{warning}[/]")
        metadata = _metadata(run_data, settings, machine, init)
        if resumes:
            _check_resumed(folder, settings, metadata, console)
        else:
            folder.start(to_yaml(settings), metadata)
        _write_views_and_skipped(folder, run_data, settings, console)
    knn = fit(settings, method, run_data, folder, machine, console, f"{command} --resume")
    if not leads:
        return PretrainingRun(folder.path, {})
    metrics = _final_metrics(folder, knn, method)
    method.export(folder.path, _about(settings))
    if settings.method.has_encoder:
        card = card_of(method, settings, run_data.source.classes)
        save_encoder(method.encoder, card, folder.weights, method.linear_classifier)
    write_result(
        folder.result,
        "pretrain",
        metrics=metrics,
        seed=settings.seed,
        data=run_data.name,
        model=folder.path.name,
    )
    return PretrainingRun(folder.path, metrics)


def check_method(method: Method, recipe: Recipe, machine: Machine) -> list[str]:
    """Raise `UsageError` for settings that the method, optimizer or encoder cannot work with.

    Returns warnings about settings with which the run is possible. If the recipe asks for gradient
    checkpointing, the method has it afterwards.
    """
    training = recipe.training
    images = recipe.data.batch_size // (machine.world_size * training.accumulate)
    batch = DeviceBatch(images, machine.world_size, training.sync_batch_norm)
    recipe.method.check(batch)
    if not method.automatic_optimization:
        _check_in_turn(recipe)
    for part in method.optimized():
        build_optimizer(*part)
    if training.gradient_checkpointing:
        checkpoint_gradients(method.encoder)
    return recipe.method.warnings(batch)


def _check_in_turn(recipe: Recipe) -> None:
    """Refuse what has no meaning where networks are updated in turn, each before the next."""
    for key, value in (
        ("training.accumulate", recipe.training.accumulate > 1),
        ("training.gradient_clip", recipe.training.gradient_clip is not None),
    ):
        if value:
            raise UsageError(
                f"method '{recipe.method.name}' updates its networks in turn: leave out '{key}'"
            )


def build_method(
    recipe: Recipe,
    init: str | Path | None = None,
    source: ImageSource | None = None,
    console: Console | None = None,
) -> Method:
    """Build the method of a recipe; its initial weights depend on the recipe's seed alone.

    Without the source of its training images it can embed, but in general not be trained. The
    console is told what happens to the classifier of `init`.
    """
    num_images = None if source is None else len(source)
    classes = None if source is None else source.classes
    given = None if init is None else load_model(init)
    sizes = num_images, None if classes is None else len(classes)
    method = build_sized_method(recipe, *sizes, given)
    if given is not None:
        said = take_up_classifier(method, given, classes)
        if console is not None and said:
            console.print(said, highlight=False, markup=False)
    return method


def build_sized_method(
    recipe: Recipe,
    num_images: int | None,
    num_classes: int | None,
    init: LoadedModel | None = None,
) -> Method:
    """Build the method of a recipe for data of a given size, which need not be there."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(recipe.seed, "weights"))
        channels_last = recipe.training.channels_last
        if not recipe.method.has_encoder:
            if init is not None:
                raise UsageError(f"--init: method '{recipe.method.name}' has no encoder to load")
            encoder: Encoder = NoEncoder(channels_last=channels_last)
        else:
            encoder = Encoder(recipe.encoder, channels_last=channels_last)
        if init is not None:
            load_into(encoder, init)
        return recipe.method.build(encoder, recipe.training_context(num_images, num_classes))


def _metadata(
    data: RunData, recipe: Recipe, machine: Machine, init: str | Path | None
) -> dict[str, Any]:
    """The content of `run.json`."""
    return {
        "data": data.name,
        "num_images": len(data.everything),
        "num_classes": data.num_classes,
        "data_fingerprint": data.fingerprint(),
        "seed": recipe.seed,
        "devices": machine.world_size,
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": commit(),
        "init": init and public_name(str(init)),
    }


def _check_resumed(
    folder: RunFolder, recipe: Recipe, metadata: dict[str, Any], console: Console
) -> None:
    """Raise `UsageError` unless the run in the folder is the same; warn of other hardware."""
    before = folder.read_metadata()
    rounding = require_same_run(
        to_mapping(load_recipe(read_recipe(folder.recipe))),
        to_mapping(recipe),
        before["data_fingerprint"],
        metadata["data_fingerprint"],
    )
    if before.get("init") != metadata["init"] and not folder.checkpoint.exists():
        raise UsageError(
            f"the run to resume was started with --init {before.get('init')}; give it again"
        )
    hardware = {key: (before[key], metadata[key]) for key in ("devices", "threads")}
    for key, (old, new) in (hardware | rounding).items():
        if old != new:
            console.print(
                f"[yellow]the run had {key} {old} and now has {new}: "
                "the result will differ in rounding[/]"
            )
    if not folder.checkpoint.exists():
        console.print("the run has no checkpoint yet; it starts from the beginning")


def _write_views_and_skipped(
    folder: RunFolder, data: RunData, recipe: Recipe, console: Console
) -> None:
    FailureLog(folder.skipped).add(data.unreadable)
    if data.unreadable:
        console.print(f"{len(data.unreadable)} images cannot be read; see '{folder.skipped.name}'")
    if not folder.views.exists():
        view_sheet(data.source, recipe.view_plan(), recipe.seed).save(folder.views)


def _final_metrics(folder: RunFolder, knn: OnlineKnn | None, method: Method) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for entry in read_log(folder.log):
        metrics |= {key: entry[key] for key in _FINAL if key in entry}
    if knn is not None:
        # A run that was killed after its last step has not measured yet.
        metrics["knn"] = knn.measure(method) if knn.accuracy is None else knn.accuracy
    return metrics


def card_of(method: Method, recipe: Recipe, classes: Sequence[str] | None = None) -> Card:
    """The card of a method's encoder, with its spaces or the classes of its classifier, if any."""
    encoder = method.encoder
    return Card(
        encoder=recipe.encoder,
        preprocessing=preprocessing(recipe),
        dim=encoder.dim,
        classes=None if classes is None or method.linear_classifier is None else list(classes),
        spaces=list(method.spaces) if encoder.settings.branches > 1 and method.spaces else None,
        **_about(recipe),
    )


def _about(recipe: Recipe) -> dict[str, Any]:
    """What the card of anything that a run has trained says about its origin."""
    return {"recipe": to_mapping(recipe), "versions": versions(), "commit": commit()}
