"""A small run in two phases: drawings and their filtered copies, then the drawings alone."""

from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console

from tests.small import TINY_RECIPE
from unshortcut.build.api import filter_data
from unshortcut.data.shapes import Shapes
from unshortcut.training.folder import RunFolder
from unshortcut.training.pretraining import pretrain

COUNT = 64
PLAIN: dict[str, Any] = {
    **TINY_RECIPE,
    "extends": "supervised-shapes",
    "method": {"name": "supervised"},
    "schedule": {"epochs": 1, "warmup_epochs": 0},
}
SECOND = ["data.filtered_copy=null", "optimizer.lr=1e-3", "schedule.epochs=2", "views.size=32"]
PHASES = [
    {"name": "doubled"},
    {
        "name": "originals",
        "data": {"filtered_copy": None},
        "optimizer": {"lr": 1e-3},
        "schedule": {"epochs": 2},
        "views": {"size": 32},
    },
]
QUIET = Console(quiet=True)


class Place:
    """Drawings in class folders, a filtered copy of them, and recipes for both."""

    def __init__(self, folder: Path) -> None:
        self.photos, self.copy = folder / "photos", folder / "copy"
        drawn = Shapes("train", size=32, count=COUNT)
        for index in range(COUNT):
            path = self.photos / f"{drawn.identity(index)}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(drawn.image(index).pixels()).save(path)
        filter_data(self.photos, self.copy, "anisotropic", workers=1, console=QUIET)
        self.doubled = {**PLAIN, "data": {**PLAIN["data"], "filtered_copy": str(self.copy)}}
        self.recipe = {**self.doubled, "phases": PHASES}

    def run(self, out: Path, *sets: str, resume: bool = False, **options: Any) -> RunFolder:
        recipe = options.pop("recipe", self.recipe)
        done = pretrain(
            recipe, self.photos, out, sets=sets, resume=resume, console=QUIET, **options
        )
        return RunFolder(done.folder)
