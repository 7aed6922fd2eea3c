"""What was asked of `unshortcut reproduce`, as a command line that anyone may see."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unshortcut.data.source import ImageSource
from unshortcut.probes.run import Data
from unshortcut.recipes.load import AnyRecipe
from unshortcut.result import public_name


@dataclass(frozen=True)
class Asked:
    """The arguments that say what an experiment is; where it is kept is nobody's business."""

    claim: str
    data: Data
    seeds: int
    scale: str
    recipe: AnyRecipe
    sets: tuple[str, ...]
    values: Mapping[str, Sequence[str]]
    only: tuple[str, ...]
    readout: Data | None
    tests: Mapping[str, Data]
    transfers: Mapping[str, tuple[Data, Data]]

    def command(self) -> str:
        """The command line with every default written out, without private folders."""
        words = ["unshortcut", "reproduce", self.claim, "--data", shown(self.data)]
        words += ["--seeds", str(self.seeds), "--scale", self.scale]
        words += ["--recipe", shown_recipe(self.recipe)]
        for change in self.sets:
            words += ["--set", change]
        for axis, values in self.values.items():
            words += ["--values", f"{axis}={','.join(values)}"]
        for label in self.only:
            words += ["--only", label]
        if self.readout is not None:
            words += ["--readout", shown(self.readout)]
        for name, data in self.tests.items():
            words += ["--test", f"{name}={shown(data)}"]
        for name, (fitted, tested) in self.transfers.items():
            words += ["--transfer", f"{name}={shown(fitted)}:{shown(tested)}"]
        return shlex.join(words)


def shown_recipe(recipe: AnyRecipe) -> str:
    """A recipe by a name that anyone may see."""
    named = isinstance(recipe, str | Path)
    return public_name(str(recipe)) if named else type(recipe).__name__


def shown(data: Data) -> str:
    """Data by a name that anyone may see."""
    return type(data).__name__ if isinstance(data, ImageSource) else public_name(str(data))
