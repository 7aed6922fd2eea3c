"""Training in phases: every phase is a run folder inside the folder of the run.

A phase that has a result is finished and never repeated; an interrupted one is resumed. When all
are finished, the run gets the encoder and the result of the last one and is a run like any other.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from unshortcut.errors import UsageError
from unshortcut.files import write_bytes, write_json
from unshortcut.models.card import card_path, read_card
from unshortcut.recipes.load import to_mapping
from unshortcut.recipes.schema import Recipe, ResolvedPhase
from unshortcut.training.folder import RunFolder
from unshortcut.translation.trained import GENERATOR_FILE


@dataclass(frozen=True)
class PhaseRun:
    """A phase of a run: what it trains by, where, and the weights that it starts from."""

    resolved: ResolvedPhase
    folder: RunFolder
    init: str | Path | None
    """Weights to start from; those of the phase before may not be there yet."""
    before: Path | None = None
    """Folder of the phase before, whether or not its weights are started from."""

    @property
    def name(self) -> str:
        return self.resolved.phase.name

    @property
    def recipe(self) -> Recipe:
        return self.resolved.recipe

    @property
    def finished(self) -> bool:
        return self.folder.result.is_file()


def phase_runs(recipe: Recipe, run: RunFolder, init: str | Path | None = None) -> list[PhaseRun]:
    """The phases of a run in their order, in the folders `1-NAME`, `2-NAME`, …

    `init` takes the place of the recipe's own; a first phase that states its own is refused.
    """
    found: list[PhaseRun] = []
    for number, resolved in enumerate(recipe.resolved_phases(), 1):
        start: str | Path | None = resolved.recipe.init
        if resolved.continues:
            # Absolute, so that run.json states the name of the folder and not the way to it.
            start = found[-1].folder.path.resolve()
        elif number == 1 and init is not None:
            if resolved.phase.states_init:
                raise UsageError(
                    f"--init: the first phase, '{resolved.phase.name}', states 'init' itself; "
                    f"change it with --set phases.{resolved.phase.name}.init=MODEL"
                )
            start = init
        folder = RunFolder(run.path / f"{number}-{resolved.phase.name}")
        before = found[-1].folder.path.resolve() if found else None
        found.append(PhaseRun(resolved, folder, start, before))
    return found


def trainings_of(recipe: Recipe, run: RunFolder) -> list[RunFolder]:
    """The folders with the logs and checkpoints of a run: those of its phases, or its own."""
    return [phase.folder for phase in phase_runs(recipe, run)] or [run]


def finish_run(run: RunFolder, recipe: Recipe) -> dict[str, float]:
    """Give a run what its last phase has trained, and its result; returns the metrics."""
    last = run.last_phase
    generator = last.path / GENERATOR_FILE
    for path in (generator, generator.with_suffix(".json")):
        if path.is_file():
            write_bytes(run.path / path.name, path.read_bytes())
    write_bytes(run.weights, last.weights.read_bytes())
    card = read_card(last.weights).model_copy(update={"recipe": to_mapping(recipe)})
    write_json(card_path(run.weights), card.model_dump(mode="json"))
    result = json.loads(last.result.read_text(encoding="utf-8"))
    write_json(run.result, {**result, "model": run.path.name})
    metrics: dict[str, float] = result["metrics"]
    return metrics
