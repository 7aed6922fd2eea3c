"""What a LooC run can represent the same images by: its backbone, and any of its spaces."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.models.load import load_model
from unshortcut.probes.bench import features_of
from unshortcut.spaces.loading import load_spaces
from unshortcut.spaces.subsets import SpaceSubset, columns, required_spaces, subsets_of


@dataclass(frozen=True)
class Representations:
    """Features of the same images: of all spaces, and of the backbone where that is the run's own.

    A `Subset` stands for the spaces' representation, None for the backbone's.
    """

    labels: NDArray[np.int64]
    """(N,)"""
    spaces: SpaceSubset
    of_spaces: NDArray[np.float32]
    """(N, S * W)"""
    of_backbone: NDArray[np.float32] | None
    """(N, D)"""

    @classmethod
    def of(
        cls, run: str | Path, source: ImageSource, console: Console, workers: int
    ) -> "Representations":
        everything, own = load_spaces(run), load_model(run)
        spaces = required_spaces(everything)
        if spaces == own.spaces and len(spaces) == 1:
            raise UsageError(f"'{run}' has one space only, so there is nothing to choose")
        found = features_of(everything, source, "the spaces", console, workers)
        backbone = None
        if own.spaces is None:
            backbone = features_of(own, source, "the backbone", console, workers).values
        return cls(found.required_labels(), spaces, found.values, backbone)

    @property
    def asked(self) -> list[SpaceSubset | None]:
        """The run's own representation, then the subsets to compare with it."""
        own = self.spaces if self.of_backbone is None else None
        return [own, *(subset for subset in subsets_of(self.spaces) if subset != own)]

    def features(self, subset: SpaceSubset | None) -> NDArray[np.float32]:
        if subset is not None:
            chosen = columns(self.spaces, subset, self.of_spaces.shape[1])
            return self.of_spaces[:, chosen.numpy()]
        assert self.of_backbone is not None
        return self.of_backbone
