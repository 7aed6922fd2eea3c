"""Working through the trainings of an experiment, one at a time, beside other commands."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from unshortcut.errors import InterruptedRunError
from unshortcut.reproduction.claim import Scale
from unshortcut.reproduction.identity import require_same
from unshortcut.reproduction.lock import locked
from unshortcut.reproduction.trainings import Training

_HOW_LONG: dict[Scale, str] = {
    "small": "a training takes a few minutes on two cores",
    "paper": "one of the paper's trainings took about 1.5 days on four GPUs",
}
_LOOK_AGAIN = 2.0
"""Seconds between two looks at what another command is busy with."""


@dataclass
class Experiment:
    """Trainings, each trained and measured once, by this command or by another."""

    trainings: Sequence[Training]
    measure: Callable[[Training], dict[str, float]]
    scale: Scale
    console: Console
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of every training that is measured, by its key."""
    trained: int = 0
    """How many this command trained."""

    def run(self) -> None:
        """Do all of it; what another command is busy with comes last."""
        self._announce()
        pending = list({training.key: training for training in self.trainings}.values())
        told = False
        while pending:
            busy = [training for training in pending if not self._done(training)]
            if len(busy) == len(pending):
                if not told:
                    self._say(f"waiting for another command that works on {busy[0].title}")
                told = True
                time.sleep(_LOOK_AGAIN)
            pending = busy

    def _done(self, training: Training) -> bool:
        """Train and measure; False where another command is at it."""
        with locked(training.folder) as ours:
            if not ours:
                return False
            if training.finished:
                require_same(training.run, training.recipe)
            else:
                self._train(training)
            self.metrics[training.key] = self.measure(training)
        return True

    def _train(self, training: Training) -> None:
        number = 1 + self.trainings.index(training)
        self._say(f"training {number} of {len(self.trainings)}: {training.title}")
        try:
            training.train(self.console)
        except InterruptedRunError as stopped:
            raise InterruptedRunError(
                f"stopped in training {number} of {len(self.trainings)}; its state is saved, and "
                "the same command goes on from there",
                stopped.exit_status - 128,
            ) from None
        self.trained += 1
        self._say(f"{training.title}: {training.seconds:.0f} seconds{self._left()}")

    def _announce(self) -> None:
        missing = len(self._missing())
        if missing == 0:
            self._say(f"all {len(self.trainings)} trainings are there already")
            return
        self._say(
            f"{len(self.trainings)} trainings, {missing} of them still to do; "
            f"{_HOW_LONG[self.scale]}{self._left()}"
        )

    def _left(self) -> str:
        known = [t.seconds for t in self.trainings if t.finished and t.seconds is not None]
        missing = len(self._missing())
        if not known or not missing:
            return ""
        minutes = math.ceil(missing * statistics.fmean(known) / 60)
        return f", about {minutes} minutes to go"

    def _missing(self) -> set[str]:
        return {training.key for training in self.trainings if not training.finished}

    def _say(self, words: str) -> None:
        self.console.print(words, highlight=False)
