"""The table that fills while trainings run side by side, with the time that is left."""

import math
import time
from dataclasses import dataclass
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from unshortcut.reproduction.claim import MeasureColumn
from unshortcut.reproduction.plan import Plan
from unshortcut.reproduction.training_job import TrainingJob


@dataclass(frozen=True)
class State:
    """How far a training is."""

    text: str
    epochs: float
    done: bool = False


class Board:
    """Shows the state of every variant and seed: a live table, or lines without a terminal."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.column = shown_column(plan)
        self._live = Live(console=plan.console, auto_refresh=False)
        self._started = time.monotonic()
        self._states: dict[str, State] = self._read()
        self._epochs_before = self._epochs()

    def __enter__(self) -> "Board":
        if self.plan.console.is_terminal:
            self._live.start()
        else:
            self._say(self.summary())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()

    def update(self) -> None:
        """Read the state of all trainings and show what is new."""
        before, self._states = self._states, self._read()
        if self.plan.console.is_terminal:
            self._live.update(Group(self.table(), Text(self.summary())), refresh=True)
            return
        for training in self.plan.distinct:
            state = self._states[training.key]
            if state.done and not before[training.key].done:
                self._say(f"{training.title}: {state.text}; {self.summary()}")

    def table(self) -> Table:
        """One row per variant, one column per seed."""
        seeds = self.plan.request.seeds
        shown = "" if self.column is None else f", {self.column.title}"
        table = Table("variant", *(f"seed {s}" for s in range(seeds)), title=f"trainings{shown}")
        rows: dict[str, list[str]] = {}
        for training in self.plan.distinct:
            rows.setdefault(training.variant, []).append(self._states[training.key].text)
        for variant, cells in rows.items():
            table.add_row(variant, *cells)
        return table

    def summary(self) -> str:
        """`5 of 18 trainings done, about 70 minutes to go`."""
        done = sum(state.done for state in self._states.values())
        total = sum(training.recipe.total_epochs for training in self.plan.distinct)
        left = seconds_left(
            self._epochs_before, self._epochs(), total, time.monotonic() - self._started
        )
        to_go = "" if left is None else f", about {math.ceil(left / 60)} minutes to go"
        return f"{done} of {len(self._states)} trainings done{to_go}"

    def _read(self) -> dict[str, State]:
        return {one.key: read_state(self.plan, one, self.column) for one in self.plan.distinct}

    def _epochs(self) -> float:
        return sum(state.epochs for state in self._states.values())

    def _say(self, message: str) -> None:
        self.plan.console.print(message, highlight=False, markup=False)


def read_state(plan: Plan, training: TrainingJob, column: MeasureColumn | None) -> State:
    """The state of a training, from the files in its folder."""
    epochs = training.recipe.total_epochs
    if training.finished:
        metrics = plan.stored(training)
        if metrics is None:
            return State("measuring", epochs)
        value = metrics.get(column.measure) if column is not None else None
        text = "done" if column is None or value is None else f"{value:.{column.digits}f}"
        return State(text, epochs, done=True)
    reached = training.epochs_done
    if reached == 0:
        return State("waiting", 0.0)
    return State(f"epoch {min(epochs, int(reached) + 1)} of {epochs}", reached)


def shown_column(plan: Plan) -> MeasureColumn | None:
    """The column of the primary effect, or else the first of the claim."""
    registered = plan.claim.registration
    measure = registered.primary.measure if registered is not None else None
    columns = plan.claim.columns
    return next((c for c in columns if c.measure == measure), columns[0] if columns else None)


def seconds_left(before: float, now: float, total: float, elapsed: float) -> float | None:
    """Time for the rest of the epochs at the pace since the beginning; None if nothing is known."""
    return None if now <= before else elapsed * (total - now) / (now - before)
