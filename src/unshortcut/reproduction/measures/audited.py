"""Metrics of a measurement of the audit, for a linear probe on the training data."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.measurements.measurement import Measurement
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class AuditMeasure(Measure):
    """Shares that a measurement of the audit gives for the test images, in percent."""

    name: ClassVar[str] = "audit"
    uses: ClassVar[tuple[str, ...]] = ("tests",)

    measurement: str
    """Its name in `unshortcut audit --only`."""
    metrics: tuple[str, ...]
    """Names of its metrics, as in `unshortcut audit --require`."""
    images: int = 1000
    """Number of test images, at most; a measurement may use fewer."""

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        return {
            "measurement": [self.measurement, self._measurement().version],
            "metrics": list(self.metrics),
            "images": self.images,
            "train": evaluation.train.fingerprint(),
            "test": evaluation.tests["test"].fingerprint(),
        }

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.measuring.settings import Settings
        from unshortcut.progress import bar
        from unshortcut.reproduction.subjects import fitted_subject

        subject = replace(
            fitted_subject(run, evaluation), settings=Settings(max_images=self.images)
        )
        measurement = self._measurement()
        with bar(evaluation.console, measurement.title.lower(), unit="images") as on_progress:
            found = measurement.metrics(measurement.measure(subject, on_progress), None)
        return {name: 100 * found[name].value for name in self.metrics}

    def _measurement(self) -> "Measurement":
        from unshortcut.measurements.measurement import measurements

        return measurements([self.measurement])[self.measurement]
