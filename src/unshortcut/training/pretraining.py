"""Pretraining: from a recipe and data to a trained, exported encoder."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from unshortcut.data.failures import FailureLog
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.methods.optimization import build_optimizer
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import Encoder
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.randomness import torch_seed
from unshortcut.recipes.load import AnyRecipe, load_recipe, read_recipe, to_mapping, to_yaml
from unshortcut.recipes.schema import Recipe
from unshortcut.result import commit, public_name, versions, write_result
from unshortcut.training.fit import fit, preprocessing
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.machine import Machine, find_machine
from unshortcut.training.online_knn import OnlineKnn
from unshortcut.training.resume import require_same_run
from unshortcut.training.run_data import RunData, open_run_data
from unshortcut.views.sheet import view_sheet


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
        init: a model whose encoder weights to start from: a run folder or an exported file.
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
    run_data = open_run_data(settings, data, console, visible=leads)
    method = build_method(settings, init, run_data.source)
    batch_size = settings.data.batch_size // (machine.world_size * settings.training.accumulate)
    settings.method.check(batch_size, settings.training.sync_batch_norm)
    build_optimizer(method, settings.optimizer)  # finds wrong options before anything is written
    if leads:
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
    save_encoder(method.encoder, card_of(method, settings), folder.weights)
    write_result(
        folder.result,
        "pretrain",
        metrics=metrics,
        seed=settings.seed,
        data=run_data.name,
        model=folder.path.name,
    )
    return PretrainingRun(folder.path, metrics)


def build_method(
    recipe: Recipe, init: str | Path | None = None, source: ImageSource | None = None
) -> Method:
    """Build the method of a recipe; its initial weights depend on the recipe's seed alone.

    Without the source of its training images it can embed, but in general not be trained.
    """
    num_images = None if source is None else len(source)
    num_classes = None if source is None or source.classes is None else len(source.classes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(recipe.seed, "weights"))
        encoder = Encoder(recipe.encoder)
        if init is not None:
            _load_into(encoder, init)
        return recipe.method.build(encoder, recipe.training_context(num_images, num_classes))


def _load_into(encoder: Encoder, init: str | Path) -> None:
    """Load the weights of a model of the same architecture, without its classifier."""
    module = load_model(init).module
    if module is None:
        raise UsageError(f"--init: '{init}' has no weights to load")
    given = (module.model if isinstance(module, Encoder) else module).cpu().state_dict()
    wanted = encoder.model.state_dict()
    unfit = [k for k in wanted if k not in given or given[k].shape != wanted[k].shape]
    if unfit and encoder.settings.branches > 1:
        raise UsageError(
            f"--init: the recipe's encoder has {encoder.settings.branches} branches, but "
            f"'{init}' is another kind of encoder"
        )
    if unfit:
        raise UsageError(
            f"--init: the weights of '{init}' do not fit the recipe's encoder: {len(unfit)} of "
            f"{len(wanted)} tensors are missing or have another shape; the first is '{unfit[0]}'"
        )
    encoder.model.load_state_dict({name: given[name] for name in wanted})


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
    require_same_run(
        to_mapping(load_recipe(read_recipe(folder.recipe))),
        to_mapping(recipe),
        before["data_fingerprint"],
        metadata["data_fingerprint"],
    )
    if before.get("init") != metadata["init"] and not folder.checkpoint.exists():
        raise UsageError(
            f"the run to resume was started with --init {before.get('init')}; give it again"
        )
    for key in ("devices", "threads"):
        if before[key] != metadata[key]:
            console.print(
                f"[yellow]the run had {before[key]} {key} and now has {metadata[key]}: "
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
        metrics |= {key: entry[key] for key in ("loss", "embedding_std", "knn") if key in entry}
    if knn is not None:
        # A run that was killed after its last step has not measured yet.
        metrics["knn"] = knn.measure(method) if knn.accuracy is None else knn.accuracy
    return metrics


def card_of(method: Method, recipe: Recipe) -> Card:
    """The card of a method's encoder, with its spaces if the method has several."""
    encoder = method.encoder
    return Card(
        encoder=recipe.encoder,
        preprocessing=preprocessing(recipe),
        dim=encoder.dim,
        spaces=list(method.spaces) if encoder.settings.branches > 1 and method.spaces else None,
        recipe=to_mapping(recipe),
        versions=versions(),
        commit=commit(),
    )
