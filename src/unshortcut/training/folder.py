"""The run folder: it explains itself to whoever opens it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshortcut.errors import UsageError
from unshortcut.files import write_json, write_text
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.result import RESULT_FILE

_README = """\
A run of unshortcut. What lies here:
  recipe.yaml            the recipe as run, every setting spelled out
  run.json               data, versions, commit, devices
  log.jsonl              one JSON object per logged step: loss, lr, embedding std, kNN, speed
  tensorboard/           the same for TensorBoard
  views.png              an image and the views that the method saw of it
  checkpoint.ckpt        the state to resume from
  skipped.jsonl          images that could not be read, with the reason (only if there are any)
  encoder.safetensors    the trained encoder, with its card encoder.json (when finished)
  result.json            the final metrics (when finished)
A loss that rises at first is normal for a queue of negatives: the queue fills with harder ones.
"""


@dataclass(frozen=True)
class RunFolder:
    """Paths inside a run folder."""

    path: Path

    @property
    def recipe(self) -> Path:
        return self.path / "recipe.yaml"

    @property
    def about(self) -> Path:
        return self.path / "run.json"

    @property
    def log(self) -> Path:
        return self.path / "log.jsonl"

    @property
    def tensorboard(self) -> Path:
        return self.path / "tensorboard"

    @property
    def views(self) -> Path:
        return self.path / "views.png"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.ckpt"

    @property
    def skipped(self) -> Path:
        return self.path / "skipped.jsonl"

    @property
    def weights(self) -> Path:
        return self.path / WEIGHTS_FILE

    @property
    def result(self) -> Path:
        return self.path / RESULT_FILE

    def require_new(self) -> None:
        """Refuse a place that holds something already."""
        if self.path.is_file():
            raise UsageError(f"'{self.path}' is a file; --out wants a folder")
        if self.recipe.exists():
            raise UsageError(
                f"'{self.path}' holds a run already; go on with --resume, or choose another --out"
            )
        begun = {"README.txt", self.about.name}  # by a run that was killed as it began
        if self.path.is_dir() and any(p.name.strip(".") not in begun for p in self.path.iterdir()):
            raise UsageError(f"'{self.path}' is not empty; choose another --out")

    def require_run(self) -> None:
        """Refuse to resume what is no run."""
        if not self.recipe.is_file() or not self.about.is_file():
            raise UsageError(f"'{self.path}' holds no run to resume")

    def start(self, recipe_yaml: str, about: dict[str, Any]) -> None:
        """Make the folder and write what can be known before training."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_text(self.path / "README.txt", _README)
        write_json(self.about, about)
        write_text(self.recipe, recipe_yaml)  # last: a folder with a recipe is a run

    def read_about(self) -> dict[str, Any]:
        about: dict[str, Any] = json.loads(self.about.read_text(encoding="utf-8"))
        return about
