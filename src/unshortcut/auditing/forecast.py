"""How long measurements will take: the speed of the model on a first batch times their passes."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unshortcut.measurements.measurement import Measurement
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.subjects.classifier import run
from unshortcut.measuring.subjects.subject import Subject

BATCH, BATCHES = 64, 2
"""The faster of two batches counts: in the first, memory is allocated."""


@dataclass(frozen=True)
class Expected:
    """What a measurement is expected to cost."""

    passes: int
    """Forward passes of single images."""
    cost: int
    """The same with more for those with gradients."""
    seconds: float


class Forecast:
    """The measurements of one model that are still to be made, and what they will cost.

    Plain images that have passed through the model, e.g. in the first batch, are not counted again.
    Measurements that do not state their passes are left out. The speed is that of the first batch,
    and then the mean over all that was done, since images take time to change, too.
    """

    def __init__(self, subject: Subject, planned: Mapping[str, Measurement]) -> None:
        self._subject = subject
        found = {name: _passes(one, subject) for name, one in planned.items()}
        self._passes = {name: one for name, one in found.items() if one is not None}
        plain = max((one.plain for one in self._passes.values()), default=0)
        self._cost = BATCH
        self._seconds = BATCH * seconds_per_pass(subject, plain) if self._passes else 0.0

    def of(self, name: str) -> Expected | None:
        """What a measurement will cost, or None."""
        one = self._passes.get(name)
        return None if one is None else self._expected([one])

    def left(self) -> Expected:
        """What all measurements that are not `done` will cost together."""
        return self._expected(list(self._passes.values()))

    def done(self, name: str, expected: Expected | None, seconds: float) -> None:
        """Take a measurement out of those that are left; `seconds` is 0 if it was not completed."""
        self._passes.pop(name, None)
        if expected is not None and expected.cost and seconds:
            self._cost += expected.cost
            self._seconds += seconds

    def _expected(self, passes: list[Passes]) -> Expected:
        known = self._subject.num_known
        total = Passes(
            sum(one.changed for one in passes),
            max((one.plain for one in passes), default=0),
            sum(one.with_gradient for one in passes),
        )
        cost = total.cost(known)
        return Expected(total.count(known), cost, cost * self._seconds / self._cost)


def seconds_per_pass(subject: Subject, plain: int) -> float:
    """Time per image in a batch: of plain images, whose outputs are needed anyway, if any are.

    Args:
        plain: number of plain images that measurements will use.
    """
    if not plain:
        side = subject.model.preprocessing.size
        blank = np.full((BATCH, side, side, 3), 127, np.uint8)
        started = time.perf_counter()
        run(subject.model, subject.classifier, blank)
        return (time.perf_counter() - started) / BATCH
    images, seconds = subject.unlabeled(plain), []
    for first in range(0, min(len(images), BATCHES * BATCH), BATCH):
        part = images.take(range(first, min(first + BATCH, len(images))))
        started = time.perf_counter()
        subject.outputs(part)
        seconds.append((time.perf_counter() - started) / len(part))
    return min(seconds)


def _passes(measurement: Measurement, subject: Subject) -> Passes | None:
    """The passes of a measurement; None if there will be none, because it will raise an error."""
    try:
        return measurement.passes(subject)
    except Exception:  # reported when it is made
        return None
