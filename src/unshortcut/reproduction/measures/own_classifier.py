"""The error of the classifier that a run has trained with its encoder."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class OwnClassifierMeasure(Measure):
    """Error on the test set, whose labels are right, of the run's own classifier and not a probe.

    Metric, in percent: `test_error`.
    """

    name: ClassVar[str] = "own_classifier"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        from unshortcut.reproduction.subjects import class_names

        class_names(evaluation.test)
        return {"test": evaluation.test.fingerprint()}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.models.load import load_model
        from unshortcut.models.logits import compute_logits

        found = compute_logits(load_model(run), evaluation.test)
        wrong = found.values.argmax(axis=1) != found.required_labels()
        return {"test_error": 100 * float(wrong.mean())}
