"""Boxes that are proposed before a training: made once, kept beside the trainings, and resumable.

The folder is named by everything that the boxes depend on: the images, the method, and the training
whose encoder finds them, if one does. All of it is known before anything is trained.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from unshortcut.build.proposing import propose
from unshortcut.data.naming import Data
from unshortcut.data.open import open_data
from unshortcut.data.proposals import FILE, WithProposals
from unshortcut.data.source import ImageSource
from unshortcut.reproduction.claim import Proposing
from unshortcut.reproduction.locks import is_locked, waiting_lock

if TYPE_CHECKING:
    from unshortcut.reproduction.training_job import TrainingJob

_VERSION = 1  # raised when the same method and images would give other boxes


@dataclass(frozen=True)
class ProposalStep:
    """The boxes that a training needs."""

    proposing: Proposing
    most: int
    """Largest number of boxes of an image."""
    data: Data
    fingerprint: str
    """That of the data."""
    root: Path
    """Folder in which trainings are stored."""
    model: "TrainingJob | None" = None
    """The training whose encoder proposes the boxes, for methods that need a model."""
    workers: int | None = None
    """Number of processes that propose; None for one per core."""

    @property
    def identity(self) -> dict[str, Any]:
        """What the boxes depend on besides the images, as plain values."""
        return {
            "version": _VERSION,
            "method": self.proposing.method,
            "settings": dict(self.proposing.settings),
            "most": self.most,
            "model": None if self.model is None else self.model.key,
        }

    @property
    def folder(self) -> Path:
        """Holds `boxes/`, as `unshortcut propose` writes it."""
        content = [self.fingerprint, self.identity]
        key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
        return self.root / f"proposals-{key}"

    @property
    def is_busy(self) -> bool:
        """Whether another command is making the boxes, or the encoder that proposes them."""
        if (self._boxes / FILE).is_file():
            return False
        model = self.model
        return is_locked(self.folder) or (model is not None and is_locked(model.folder))

    def attach(self, console: Console) -> ImageSource:
        """The training images with their proposed boxes, which are made now if they are not there.

        What was interrupted is continued; what another command is making is waited for.
        """
        source = open_data(self.data)
        with waiting_lock(self.folder):
            if not (self._boxes / FILE).is_file():
                propose(
                    source, self._boxes, self.proposing.method, most=self.most,
                    workers=self.workers, console=console, **self._settings(console),
                )  # fmt: skip
        return WithProposals(source, self._boxes, self.most)

    @property
    def _boxes(self) -> Path:
        return self.folder / "boxes"

    def _settings(self, console: Console) -> dict[str, Any]:
        """The settings of the method, with the run of the model, which is trained if it is not."""
        settings = dict(self.proposing.settings)
        if self.model is None:
            return settings
        with waiting_lock(self.model.folder):
            if not self.model.run.weights.is_file():
                console.print(f"training {self.model.title}, which proposes boxes", highlight=False)
                self.model.train(console)
        return {**settings, "model": str(self.model.run.path)}
