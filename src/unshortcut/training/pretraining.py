"""From a recipe and data to a trained, exported encoder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from unshortcut.data.copies import Copied, CopiedAlike, Copy, doubled, open_copy
from unshortcut.data.failures import Failure, FailureLog
from unshortcut.data.joined import Joined
from unshortcut.data.loader import check_batch
from unshortcut.data.open import open_data
from unshortcut.data.scan import good, scan
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.methods.optimization import build_optimizer
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.encoder import Encoder
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.progress import bar
from unshortcut.randomness import torch_seed
from unshortcut.recipes.load import AnyRecipe, load_recipe, read_recipe, to_mapping, to_yaml
from unshortcut.recipes.schema import Recipe
from unshortcut.result import commit, public_name, versions, write_result
from unshortcut.training.fit import fit, preprocessing
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.machine import Machine, find_machine
from unshortcut.training.online_knn import OnlineKnn, knn_data
from unshortcut.training.resume import require_same_run
from unshortcut.views.sheet import view_sheet


@dataclass(frozen=True)
class Run:
    """A finished run."""

    folder: Path
    metrics: dict[str, float]

    def model(self) -> LoadedModel:
        """The trained encoder, ready to be asked for features."""
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
) -> Run:
    """Pretrain an encoder.

    Args:
        recipe: the name of a recipe, a YAML file, a mapping, or a `Recipe`.
        data: a folder, a tar file, shards, a name, or a source; by default the recipe's own.
        out: the run folder, which must be new, unless `resume` is set.
        sets: changes to the recipe, `key=value`, e.g. `schedule.epochs=10`.
        devices: how many devices, or processes on a CPU, share each batch.
        init: a model whose encoder weights to start from: a run folder or an exported file.
        resume: go on with the run in `out` to the very weights that it would have had.
        command: how the user would call this again; shown when the run is interrupted.
    """
    console = console or Console(stderr=True)
    settings = load_recipe(recipe, sets)
    folder = RunFolder(Path(out))
    machine = find_machine(devices)
    leads = machine.is_first
    if leads:
        folder.require_run() if resume else folder.require_new()
    spec = data if data is not None else settings.data.name
    if spec is None:
        raise UsageError("the recipe names no data; say which with --data")
    source = open_data(spec if isinstance(spec, ImageSource) else str(spec))
    plan = settings.view_plan()
    copies = [open_copy(where) for where in plan.copies()]
    beside = [open_copy(where) for where in plan.beside()]
    if (copies or beside) and settings.data.double is not None:
        raise UsageError(
            "data.double excludes views that are made of a copy: copies have no copies"
        )
    check_batch(len(source), settings.data.batch_size)
    machine.check_shares(settings.data.batch_size, settings.training.accumulate)
    usable, bad = _look_at(source, settings.seed, console, leads)
    check_batch(len(usable), settings.data.batch_size)
    knn_images = knn_data(
        spec if isinstance(spec, ImageSource) else str(spec), usable, settings.seed
    )
    for copied in (
        *(CopiedAlike(usable, copy) for copy in copies),
        *(Copied(usable, copy) for copy in beside),
    ):
        _, missing = _look_at(copied, settings.seed, console, leads)
        bad = (*bad, *missing)
    if settings.data.double is not None:
        source = doubled(source, settings.data.double)
        twins, bad_twins = _look_at(
            Copied(usable, open_copy(settings.data.double)), settings.seed, console, leads
        )
        usable, bad = Joined(usable, twins), (*bad, *bad_twins)

    images = settings.data.batch_size // (machine.world * settings.training.accumulate)
    settings.method.check(images, settings.training.sync_batch_norm)
    method = build_method(settings, init, usable)
    build_optimizer(method, settings.optimizer)  # wrong options are found before anything is made
    about = _about(spec, source, [*copies, *beside], settings, machine) | {
        "init": init and public_name(str(init))
    }
    if leads:
        _open_folder(folder, settings, about, resume, console)
        FailureLog(folder.skipped).add(bad)
        if bad:
            console.print(f"{len(bad)} images cannot be read; see '{folder.skipped.name}'")
        if not folder.views.exists():
            view_sheet(usable, settings.view_plan(), settings.seed).save(folder.views)

    knn = fit(settings, method, usable, knn_images, folder, machine, console, f"{command} --resume")
    if not leads:
        return Run(folder.path, {})
    metrics = _final_metrics(folder, knn, method)
    save_encoder(method.encoder, card_of(method, settings), folder.weights)
    write_result(
        folder.result,
        "pretrain",
        metrics=metrics,
        seed=settings.seed,
        data=about["data"],
        model=folder.path.name,
    )
    return Run(folder.path, metrics)


def build_method(
    recipe: Recipe, init: str | Path | None = None, source: ImageSource | None = None
) -> Method:
    """The method of a recipe; its first weights depend on the recipe's seed alone.

    Without the source that it will be trained on it can embed, and in general not be trained.
    """
    images = None if source is None else len(source)
    classes = None if source is None or source.classes is None else len(source.classes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(recipe.seed, "weights"))
        encoder = Encoder(recipe.encoder)
        if init is not None:
            _load_into(encoder, init)
        return recipe.method.build(encoder, recipe.training_context(images, classes))


def _load_into(encoder: Encoder, init: str | Path) -> None:
    """Weights of a model that has the recipe's architecture; its classifier is left out."""
    module = load_model(init).module
    if module is None:
        raise UsageError(f"--init: '{init}' has no weights that could be loaded")
    given = (module.model if isinstance(module, Encoder) else module).cpu().state_dict()
    wanted = encoder.model.state_dict()
    unfit = [
        name for name in wanted if name not in given or given[name].shape != wanted[name].shape
    ]
    if unfit and encoder.settings.branches > 1:
        raise UsageError(
            f"--init: the recipe's encoder has {encoder.settings.branches} branches, and "
            f"'{init}' is not such an encoder"
        )
    if unfit:
        raise UsageError(
            f"--init: the weights of '{init}' do not fit the recipe's encoder: {len(unfit)} of "
            f"{len(wanted)} tensors are missing or of another shape, the first is '{unfit[0]}'"
        )
    encoder.model.load_state_dict({name: given[name] for name in wanted})


def _look_at(
    source: ImageSource, seed: int, console: Console, visible: bool
) -> tuple[ImageSource, tuple[Failure, ...]]:
    """The images that can be read, and those that cannot. Raises `UsageError` for too many."""
    with bar(console, "reading headers", visible=visible) as on_progress:
        report = scan(source, seed=seed, on_progress=on_progress)
    report.check()
    return good(source, report), report.bad


def _about(
    spec: str | Path | ImageSource,
    source: ImageSource,
    copies: Sequence[Copy],
    recipe: Recipe,
    machine: Machine,
) -> dict[str, Any]:
    prints = [source.fingerprint(), *(copy.fingerprint() for copy in copies)]
    named = type(spec).__name__ if isinstance(spec, ImageSource) else public_name(str(spec))
    return {
        "data": named,
        "images": len(source),
        "classes": None if source.classes is None else len(source.classes),
        "data_fingerprint": "-".join(prints),
        "seed": recipe.seed,
        "devices": machine.world,
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": commit(),
    }


def _open_folder(
    folder: RunFolder, recipe: Recipe, about: dict[str, Any], resume: bool, console: Console
) -> None:
    if not resume:
        folder.start(to_yaml(recipe), about)
        return
    before = folder.read_about()
    require_same_run(
        to_mapping(load_recipe(read_recipe(folder.recipe))),
        to_mapping(recipe),
        before["data_fingerprint"],
        about["data_fingerprint"],
    )
    if before.get("init") != about["init"] and not folder.checkpoint.exists():
        raise UsageError(f"the run to resume began with --init {before.get('init')}; say so again")
    for key in ("devices", "threads"):
        if before[key] != about[key]:
            console.print(
                f"[yellow]the run had {before[key]} {key} and now has {about[key]}: "
                "the result will differ in rounding[/]"
            )
    if not folder.checkpoint.exists():
        console.print("the run has no checkpoint yet; it starts from its beginning")


def _final_metrics(folder: RunFolder, knn: OnlineKnn | None, method: Method) -> dict[str, float]:
    entries = read_log(folder.log)
    metrics: dict[str, float] = {}
    for entry in entries:
        metrics |= {key: entry[key] for key in ("loss", "embedding_std", "knn") if key in entry}
    if knn is not None:
        # A run that was killed after its last step has not measured yet.
        metrics["knn"] = knn.measure(method) if knn.accuracy is None else knn.accuracy
    return metrics


def card_of(method: Method, recipe: Recipe) -> Card:
    """The card of a method's encoder; branches are spaces where the method says so."""
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
