"""Trainings that are done once: each has a folder named by all that its weights depend on.

Claims share them, a finished one is never trained again, and an interrupted one goes on.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unshortcut.data.source import ImageSource
from unshortcut.files import write_json
from unshortcut.recipes.schema import Recipe
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import pretrain


@dataclass(frozen=True)
class Training:
    """One training of an experiment: the variant of a recipe, with a seed, on data."""

    variant: str
    recipe: Recipe
    data: str | ImageSource
    folder: Path
    """Holds `run/`, the run folder; `seconds.json`; and `measurements/`."""

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
    def seconds(self) -> float | None:
        """What the training took, interruptions left out; None where nobody has measured it."""
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
        before = (self.seconds or 0.0) if self.run.recipe.is_file() else 0.0
        started = time.monotonic()
        try:
            pretrain(self.recipe, self.data, self.run.path, resume=True, console=console)
        finally:
            if self.folder.is_dir():
                write_json(self._seconds, {"seconds": before + time.monotonic() - started})

    @property
    def _seconds(self) -> Path:
        return self.folder / "seconds.json"
