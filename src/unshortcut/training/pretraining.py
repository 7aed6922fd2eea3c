"""Pretraining: from a recipe and data to a trained, exported encoder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from unshortcut.data.naming import Data
from unshortcut.data.source import ImageSource
from unshortcut.distributed import wait_for_ranks
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.methods.optimization import build_optimizer
from unshortcut.methods.step import DeviceBatch
from unshortcut.models.card import Card, save_encoder
from unshortcut.models.checkpointing import checkpoint_gradients
from unshortcut.models.encoder import Encoder, NoEncoder
from unshortcut.models.load import LoadedModel, load_model
from unshortcut.randomness import torch_seed
from unshortcut.recipes.load import AnyRecipe, load_recipe, to_mapping, to_yaml
from unshortcut.recipes.phases import of_phase
from unshortcut.recipes.schema import Recipe
from unshortcut.result import commit, public_name, public_text, versions, write_result
from unshortcut.training.acceleration import check_hardware
from unshortcut.training.fit import fit, preprocessing
from unshortcut.training.folder import RunFolder
from unshortcut.training.initial_weights import load_initial, load_into, take_up_classifier
from unshortcut.training.label_correction import prepare_correction
from unshortcut.training.machine import Machine, find_machine, hardware
from unshortcut.training.phases import PhaseRun, finish_run, phase_runs
from unshortcut.training.records import (
    about_data,
    about_run,
    final_metrics,
    write_views_and_skipped,
)
from unshortcut.training.resume import check_resumed
from unshortcut.training.run_data import RunData, Scans, open_run_data


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
    data: Data | None = None,
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
            file, `timm:NAME`, or weights published by others (`timm:NAME@FILE`); by default the
            recipe's `init`. A supervised run also takes up its classifier if it is for the same
            classes.
        resume: continue the run in `out`, to the same weights as without an interruption; if
            nothing has been written there yet, the run starts.
        command: the command to repeat; shown, with `--resume`, when the run is interrupted.
    """
    settings = load_recipe(recipe, sets)
    if init is not None:
        settings = settings.model_copy(update={"init": None})  # run.json says what it was
    folder = RunFolder(Path(out))
    session = _Session(find_machine(devices), console or Console(stderr=True), command)
    resumes = session.leads and folder.check(resume)
    if settings.phases:
        metrics = session.train_phases(settings, data, folder, init, resumes)
    else:
        start = settings.init if init is None else init
        metrics = session.train(settings, session.open(settings, data), folder, start, resumes)
    return PretrainingRun(folder.path, metrics)


@dataclass(frozen=True)
class _Session:
    """The processes of a run, and where they report."""

    machine: Machine
    console: Console
    command: str

    @property
    def leads(self) -> bool:
        """Whether this process writes files."""
        return self.machine.is_first

    def train_phases(
        self,
        recipe: Recipe,
        data: Data | None,
        folder: RunFolder,
        init: str | Path | None,
        resumes: bool,
    ) -> dict[str, float]:
        """Train all phases that are not finished; everything is checked before the first."""
        phases, scans = phase_runs(recipe, folder, init), Scans()
        pending = [phase for phase in phases if not phase.finished]
        opened = [self._checked(phase, data, scans) for phase in pending]
        if self.leads:
            contents = {
                phase.folder.path.name: run_data.fingerprint()
                for phase, run_data in zip(pending, opened, strict=True)
            }
            metadata = {
                "phases": [phase.folder.path.name for phase in phases],
                "data_fingerprints": contents,
                **about_run(recipe, self.machine),
                "init": init and public_name(str(init)),
            }
            if resumes:
                check_resumed(folder, recipe, metadata, self.console)
            else:
                folder.start(to_yaml(recipe), metadata)
        for phase, run_data in zip(pending, opened, strict=True):
            if self.leads:
                number = 1 + phases.index(phase)
                self.console.print(f"phase {number} of {len(phases)}: {phase.name}")
            begun = self.leads and phase.folder.check(resume=True)
            with of_phase(phase.name):
                self.train(phase.recipe, run_data, phase.folder, phase.init, begun, phase.before)
            wait_for_ranks()  # until the weights are written that the next phase starts from
        return finish_run(folder, recipe) if self.leads else {}

    def _checked(self, phase: PhaseRun, data: Data | None, scans: Scans) -> RunData:
        """The data of a phase, after all checks that its training can make before it starts."""
        with of_phase(phase.name):
            own = phase.resolved.phase.states_data
            run_data = self.open(phase.recipe, None if own else data, scans)
            start = None if phase.resolved.continues else phase.init
            check_method(
                build_method(phase.recipe, start, run_data.source), phase.recipe, self.machine
            )
            return run_data

    def open(self, recipe: Recipe, data: Data | None, scans: Scans | None = None) -> RunData:
        """Open the data of a training after checks of what needs none."""
        self.machine.check_batch(recipe.data.batch_size, recipe.training.accumulate)
        check_hardware(recipe.training, self.machine)
        return open_run_data(recipe, data, self.console, visible=self.leads, scans=scans)

    def train(
        self,
        recipe: Recipe,
        data: RunData,
        folder: RunFolder,
        init: str | Path | None,
        resumes: bool,
        before: Path | None = None,
    ) -> dict[str, float]:
        """Train after the phase in `before`; returns the metrics in the process that leads."""
        method = build_method(recipe, init, data.source, self.console if self.leads else None)
        prepare_correction(method, recipe, data.source, folder, before)
        warnings = check_method(method, recipe, self.machine)
        if self.leads:
            for warning in warnings:
                self.console.print(f"[yellow]{warning}[/]")
            start = init and public_name(str(init))
            metadata = {**about_data(data), **about_run(recipe, self.machine), "init": start}
            if resumes:
                check_resumed(folder, recipe, metadata, self.console)
            else:
                folder.start(to_yaml(recipe), metadata)
            write_views_and_skipped(folder, data, recipe, self.console)
        how_to_resume = f"{self.command} --resume"
        knn = fit(recipe, method, data, folder, self.machine, self.console, how_to_resume)
        if not self.leads:
            return {}
        metrics = final_metrics(folder, knn, method)
        method.export(folder.path, _about(recipe))
        if recipe.method.has_encoder:
            card = card_of(method, recipe, data.source.classes).model_copy(
                update={"command": public_text(self.command), "hardware": hardware(self.machine)}
            )
            save_encoder(method.encoder, card, folder.weights, method.linear_classifier)
        write_result(
            folder.result,
            "pretrain",
            metrics=metrics,
            seed=recipe.seed,
            data=data.name,
            model=folder.path.name,
        )
        return metrics


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
        # Lightning changes the scale of the loss between the optimizers of one backward pass.
        ("training.precision 16-mixed", recipe.training.precision == "16-mixed"),
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
    given = None if init is None else load_initial(init)
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
                raise UsageError(f"init: method '{recipe.method.name}' has no encoder to load")
            encoder: Encoder = NoEncoder(channels_last=channels_last)
        else:
            recipe.method.check_encoder(recipe.encoder)
            encoder = Encoder(recipe.encoder, channels_last=channels_last)
        if init is not None:
            load_into(encoder, init)
        return recipe.method.build(encoder, recipe.training_context(num_images, num_classes))


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
