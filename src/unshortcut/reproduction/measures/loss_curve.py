"""How fast the loss of a training falls (dissertation, figure 2.6)."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation

EARLY = 0.1
"""The share of the training after which the loss is early."""


@dataclass(frozen=True)
class LossCurveMeasure(Measure):
    """The loss after a tenth of the epochs and at the end.

    Each is the mean over the logged steps of an epoch. A task with a shortcut is solved at once:
    its early loss is low.

    Metrics: `early_loss` and `final_loss`, in the units of the loss.
    """

    name: ClassVar[str] = "loss_curve"

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        return {}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.training.folder import RunFolder
        from unshortcut.training.logs import read_log

        logged = [
            (one["epoch"], one["loss"]) for one in read_log(RunFolder(run).log) if "loss" in one
        ]
        last = max(epoch for epoch, _ in logged)
        early, final = loss_before(logged, EARLY * last), loss_before(logged, last)
        return {"early_loss": early, "final_loss": final}


def loss_before(logged: Sequence[tuple[float, float]], end: float) -> float:
    """The mean loss over the epoch that ends at `end`, or over the first one if it ends later.

    `logged` are pairs of epoch, with fractions, and loss. The last step of an epoch is logged, so
    that every epoch has one.
    """
    end = max(end, 1.0)
    return statistics.fmean(loss for epoch, loss in logged if end - 1 < epoch <= end)
