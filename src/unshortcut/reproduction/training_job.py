"""Trainings that are stored and never repeated.

The folder of a training is named by everything that its weights depend on, so claims share
trainings, and an interrupted training is continued.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unshortcut.data.naming import Data
from unshortcut.files import write_json
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction.proposal_step import ProposalStep
from unshortcut.training.folder import RunFolder
from unshortcut.training.logs import read_log
from unshortcut.training.phases import trainings_of
from unshortcut.training.pretraining import pretrain


@dataclass(frozen=True)
class TrainingJob:
    """One training of an experiment: a variant of a recipe with a seed, on data."""

    variant: str
    recipe: Recipe
    data: Data
    folder: Path
    """Holds `run/` (the run folder), `seconds.json` and `measurements/`; while its encoder is
    fine-tuned, also `finetuned/`."""
    proposals: ProposalStep | None = None
    """Boxes that are proposed before the training, in place of those of the data."""

    @property
    def key(self) -> str:
        return self.folder.name

    @property
    def run(self) -> RunFolder:
        return RunFolder(self.folder / "run")

    @property
    def title(self) -> str:
        return f"{self.variant} seed={self.recipe.seed}"

    @property
    def finished(self) -> bool:
        return self.run.result.is_file()

    @property
    def waits(self) -> bool:
        """Whether another command is making what the training needs."""
        return not self.finished and self.proposals is not None and self.proposals.is_busy

    @property
    def epochs_done(self) -> float:
        """Number of epochs that the logs of the training, of all its phases, have reached."""
        return sum(
            max((entry.get("epoch", 0.0) for entry in read_log(folder.log)), default=0.0)
            for folder in trainings_of(self.recipe, self.run)
        )

    @property
    def seconds(self) -> float | None:
        """Duration of the training without interruptions and without proposing boxes.

        None if it was not recorded.
        """
        try:
            taken: float = json.loads(self._seconds.read_text(encoding="utf-8"))["seconds"]
        except (OSError, ValueError, KeyError):
            return None
        return taken

    @property
    def commit(self) -> str | None:
        """The commit of the code that began the training."""
        found: str | None = self.run.read_metadata()["commit"]
        return found

    def train(self, console: Console) -> None:
        """Train, or go on where an earlier command was interrupted."""
        data = self.data if self.proposals is None else self.proposals.attach(console)
        begun = any(one.checkpoint.is_file() for one in trainings_of(self.recipe, self.run))
        before = (self.seconds or 0.0) if begun else 0.0
        started = time.monotonic()
        try:
            pretrain(self.recipe, data, self.run.path, resume=True, console=console)
        finally:
            if self.folder.is_dir():
                write_json(self._seconds, {"seconds": before + time.monotonic() - started})

    @property
    def _seconds(self) -> Path:
        return self.folder / "seconds.json"
