"""Running the trainings of an experiment one at a time, possibly next to other commands."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from unshortcut.errors import InterruptedRunError
from unshortcut.reproduction.identity import require_same
from unshortcut.reproduction.locks import POLL_SECONDS, locked
from unshortcut.reproduction.scales import SCALES, Scale
from unshortcut.reproduction.training_job import TrainingJob


@dataclass
class Experiment:
    """Trainings that are each run and measured once, by this command or by another."""

    trainings: Sequence[TrainingJob]
    measure: Callable[[TrainingJob], dict[str, float]]
    scale: Scale
    console: Console
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    """Metrics of every measured training, by its key."""
    trained: int = 0
    """Number of trainings that this command ran."""

    def run(self) -> None:
        """Run and measure all trainings; those that another command is running come last."""
        self._announce()
        pending = list({training.key: training for training in self.trainings}.values())
        waiting = False
        while pending:
            busy = [training for training in pending if not self._done(training)]
            if len(busy) == len(pending):
                if not waiting:
                    self._say(f"waiting for another command that is running {busy[0].title}")
                waiting = True
                time.sleep(POLL_SECONDS)
            pending = busy

    def _done(self, training: TrainingJob) -> bool:
        """Train and measure; False if another command is at work on it, or on what it needs."""
        if training.waits:
            return False
        with locked(training.folder) as ours:
            if not ours:
                return False
            if training.finished:
                require_same(training.run, training.recipe)
            else:
                self._train(training)
            self.metrics[training.key] = self.measure(training)
        return True

    def _train(self, training: TrainingJob) -> None:
        number = 1 + self.trainings.index(training)
        self._say(f"training {number} of {len(self.trainings)}: {training.title}")
        try:
            training.train(self.console)
        except InterruptedRunError as stopped:
            raise InterruptedRunError(
                f"stopped in training {number} of {len(self.trainings)}; its state is saved, and "
                "the same command continues from there",
                stopped.exit_status - 128,
            ) from None
        self.trained += 1
        self._say(f"{training.title}: {training.seconds:.0f} seconds{self._left()}")

    def _announce(self) -> None:
        missing = len(self._missing())
        count = f"{len(self.trainings)} trainings"
        if missing == 0:
            self._say(f"all {count} are there already")
        else:
            duration = f"{SCALES[self.scale].duration}{self._left()}"
            self._say(f"{count}, {missing} of them still to do; {duration}")

    def _left(self) -> str:
        known = [t.seconds for t in self.trainings if t.finished and t.seconds is not None]
        missing = len(self._missing())
        if not known or not missing:
            return ""
        minutes = math.ceil(missing * statistics.fmean(known) / 60)
        return f", about {minutes} minutes to go"

    def _missing(self) -> set[str]:
        return {training.key for training in self.trainings if not training.finished}

    def _say(self, message: str) -> None:
        self.console.print(message, highlight=False)
