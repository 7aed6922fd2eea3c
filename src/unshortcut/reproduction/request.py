"""A request to `unshortcut reproduce`, and its command line without private folders."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unshortcut.data.source import ImageSource
from unshortcut.probes.run import Data
from unshortcut.recipes.load import AnyRecipe
from unshortcut.reproduction.scales import Scale
from unshortcut.result import public_name


@dataclass(frozen=True)
class ReproductionRequest:
    """The arguments that define an experiment, without those that say where it is stored."""

    claim: str
    data: str | ImageSource
    seeds: int
    scale: Scale
    recipe: AnyRecipe
    sets: tuple[str, ...]
    values: Mapping[str, Sequence[str]]
    only: tuple[str, ...]
    probe_data: Data | None
    tests: Mapping[str, Data]
    transfers: Mapping[str, tuple[Data, Data]]
    conflict: Data | None = None
    hierarchy: str | Path | None = None

    def command(self) -> str:
        """The command line with all defaults, without private folders."""
        command = ["unshortcut", "reproduce", self.claim, "--data", public_data_name(self.data)]
        command += ["--seeds", str(self.seeds), "--scale", self.scale]
        command += ["--recipe", public_recipe_name(self.recipe)]
        for change in self.sets:
            command += ["--set", change]
        for axis, values in self.values.items():
            command += ["--values", f"{axis}={','.join(values)}"]
        for label in self.only:
            command += ["--only", label]
        if self.probe_data is not None:
            command += ["--probe-data", public_data_name(self.probe_data)]
        for name, data in self.tests.items():
            command += ["--test", f"{name}={public_data_name(data)}"]
        for name, (train, test) in self.transfers.items():
            pair = f"{public_data_name(train)}:{public_data_name(test)}"
            command += ["--transfer", f"{name}={pair}"]
        if self.conflict is not None:
            command += ["--conflict", public_data_name(self.conflict)]
        if self.hierarchy is not None:
            command += ["--hierarchy", public_name(str(self.hierarchy))]
        return shlex.join(command)


def public_recipe_name(recipe: AnyRecipe) -> str:
    """The name of a recipe without private folders."""
    named = isinstance(recipe, str | Path)
    return public_name(str(recipe)) if named else type(recipe).__name__


def public_data_name(data: Data) -> str:
    """The name of data without private folders."""
    return type(data).__name__ if isinstance(data, ImageSource) else public_name(str(data))
