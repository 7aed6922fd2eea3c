"""The small claim with a measure that notes in the run folder how often it was computed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.reproduction.small import SmallClaim
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.linear_probe import LinearProbeMeasure

MEASURED = "measured.txt"


@dataclass(frozen=True)
class Counting(Measure):
    """Measures nothing."""

    name: ClassVar[str] = "counting"

    def dependencies(self, evaluation: Evaluation) -> dict[str, Any]:
        return {}

    def compute(self, run: Path, evaluation: Evaluation) -> dict[str, float]:
        with (run / MEASURED).open("a") as file:
            file.write("once\n")
        return {"counted": 1.0}


class CountingClaim(SmallClaim):
    name: ClassVar[str] = "counting"
    measures: ClassVar[tuple[Measure, ...]] = (LinearProbeMeasure(seeds=1), Counting())
