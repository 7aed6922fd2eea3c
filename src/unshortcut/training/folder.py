"""The run folder and the files in it."""

import json
from pathlib import Path
from typing import Any

from unshortcut.errors import UsageError
from unshortcut.files import PARTIAL_SUFFIX, write_json, write_text
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.result import RESULT_FILE

_README_FILE = "README.txt"
_README = """\
A training run of unshortcut. Files in this folder:
  recipe.yaml            the recipe with every setting, as it was run
  run.json               metadata: data, versions, commit, devices
  log.jsonl              one JSON object per logged step: loss, lr, embedding_std,
                         images_per_second; knn is the accuracy of a kNN classifier in percent
  tensorboard/           the same for TensorBoard
  views.png              some images and the views that the method sees of them
  checkpoint.ckpt        the state to resume from
  skipped.jsonl          unreadable images, with the reason (only if there are any)
  samples.png            some images and what Pix2Pix, MAE or CAN predicts of them, after each epoch
  encoder.safetensors    the trained encoder (with the classifier of a supervised run), and its
                         card encoder.json (when finished)
  generator.safetensors  the trained generator of Pix2Pix, and its card generator.json
                         (when finished)
  result.json            the final metrics (when finished)
A loss that rises at first is normal for a queue of negatives: the queue fills with harder ones.
"""
_README_OF_PHASES = """\
A training run of unshortcut in phases. Files in this folder:
  recipe.yaml            the recipe with every setting, as it was run
  run.json               metadata: phases, versions, commit, devices
{phases}
  encoder.safetensors    the encoder of the last phase (with the classifier of a supervised run),
                         and its card encoder.json (when finished)
  result.json            the final metrics of the last phase (when finished)
Each phase is a run folder of its own, with its log, its checkpoint and its encoder.
"""


class RunFolder:
    """Paths inside a run folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.recipe = path / "recipe.yaml"
        self.metadata = path / "run.json"
        self.log = path / "log.jsonl"
        self.tensorboard = path / "tensorboard"
        self.views = path / "views.png"
        self.samples = path / "samples.png"
        self.checkpoint = path / "checkpoint.ckpt"
        self.skipped = path / "skipped.jsonl"
        self.weights = path / WEIGHTS_FILE
        self.result = path / RESULT_FILE

    def check(self, resume: bool) -> bool:
        """Return whether there is a run to resume; False means that one can start here.

        Raises `UsageError` if the folder holds a run and `resume` is not set, or other files.
        """
        if self.path.is_file():
            raise UsageError(f"'{self.path}' is a file; --out must be a folder")
        if self.recipe.is_file() and self.metadata.is_file():
            if resume:
                return True
            raise UsageError(
                f"'{self.path}' already holds a run; continue it with --resume, or choose "
                "another --out"
            )
        if self.path.is_dir() and not all(map(self._is_begun, self.path.iterdir())):
            raise UsageError(
                f"'{self.path}' holds no run to resume, but other files; choose another --out"
                if resume
                else f"'{self.path}' is not empty; choose another --out"
            )
        return False

    def _is_begun(self, path: Path) -> bool:
        """Whether a file may be left by a run that was killed before it had a recipe."""
        name = path.name.removeprefix(".").removesuffix(PARTIAL_SUFFIX)
        begun = (_README_FILE, self.metadata.name)
        return name in begun or (name == self.recipe.name and name != path.name)

    def start(self, recipe_yaml: str, metadata: dict[str, Any], readme: str | None = None) -> None:
        """Create the folder and write what is known before training.

        The metadata of a run in phases list the folders of its `phases`.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        phases = "\n".join(f"  {name}/" for name in metadata.get("phases", ()))
        text = readme or (_README_OF_PHASES.format(phases=phases) if phases else _README)
        write_text(self.path / _README_FILE, text)
        write_json(self.metadata, metadata)
        write_text(self.recipe, recipe_yaml)  # last: a folder with a recipe is a run

    def read_metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = json.loads(self.metadata.read_text(encoding="utf-8"))
        return metadata

    @property
    def last_phase(self) -> "RunFolder":
        """The folder of the training that the encoder comes from: of the last phase, or this."""
        phases = self.read_metadata().get("phases") if self.metadata.is_file() else None
        return RunFolder(self.path / phases[-1]) if phases else self


def is_run(spec: str | Path) -> bool:
    """Whether a model spec is a run folder, finished or not."""
    return RunFolder(Path(spec)).recipe.is_file()
