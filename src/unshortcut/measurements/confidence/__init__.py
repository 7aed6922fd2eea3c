"""Accuracy, confidence and calibration of a model on the data as they are."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.confidence.calibration import BINS
from unshortcut.measurements.confidence.certainty import SURE, ConfidenceResult, confidence_of
from unshortcut.measurements.confidence.exhibits import confidence_exhibits
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MANY, FEW = 0.2, 20
"""Sure errors are told from this share on, where there are at least so many errors."""
GRAVEST = 0.6
"""Weight of errors that are all sure: bad, and yet no shortcut."""


class Confidence(Measurement[ConfidenceResult]):
    """How often a model is right, and how sure it is where it is right and where it is wrong."""

    name = "confidence"
    title = "Accuracy and confidence"
    question = "How often is it right, and does it know when it is not?"
    definition = (
        "Accuracy is the share of images whose label gets the largest probability. The confidence "
        "of a decision is that largest probability. Entropy is -Σ p ln p over the classes, in "
        "nats: 0 for a certain decision, ln K for none among K classes. Both are averaged over the "
        "images that a model gets right and, to compare models, over those that all of them get "
        "right (table 2.12 of the dissertation on suppressing texture, which does not state the "
        f"base of its logarithm). For the calibration error, decisions go into {BINS} bins of "
        "equal width by confidence. It is the distance between the accuracy and the mean "
        "confidence of a bin, averaged over all decisions; the largest one is given too (Guo et "
        "al. 2017). On few images a perfectly calibrated model would not show 0; what it would "
        "show stands beside it. The negative log-likelihood is -ln of the label's probability. "
        "Brier's score is the squared distance between the probabilities and the truth, from 0 to "
        "2."
    )
    place = 5
    gives = (
        "accuracy",
        "calibration_error",
        "sure_errors",
        "confidence_right",
        "confidence_wrong",
        "entropy_right",
        "max_calibration_error",
        "negative_log_likelihood",
        "brier",
    )
    result = ConfidenceResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> ConfidenceResult:
        """From the plain images of the data, which other measurements look at as well."""
        images = subject.labeled()
        return confidence_of(
            subject.probabilities(images, on_progress=on_progress),
            images.required_labels(),
            images.indices,
            total=images.total,
            outputs=len(subject.decisions.classes),
            kind=subject.decisions.kind,
            seed=subject.settings.seed,
        )

    def metrics(
        self, result: ConfidenceResult, baseline: ConfidenceResult | None
    ) -> dict[str, Metric]:
        """Accuracy, calibration and sure errors are the headlines."""
        among = f"among {result.classes} classes"
        chance = percent(result.calibration_error_by_chance, 1)
        return {
            "accuracy": Metric.of(
                "Accuracy",
                result.accuracy,
                better="higher",
                note=f"{result.images} images, {among}",
            ),
            "calibration_error": Metric(
                "Calibration error",
                result.calibration_error,
                better="lower",
                note=f"{chance} is chance on {result.images} images",
            ),
            "sure_errors": Metric.of(
                f"Errors with a confidence above {percent(SURE)}",
                result.sure_errors,
                better="lower",
                note=f"of {result.errors} errors",
            ),
            "confidence_right": Metric.of(
                "Confidence where right", result.confidence_right, headline=False
            ),
            "confidence_wrong": Metric.of(
                "Confidence where wrong", result.confidence_wrong, headline=False
            ),
            "entropy_right": Metric.of(
                "Entropy where right, in nats",
                result.entropy_right,
                percent=False,
                headline=False,
                note=among,
            ),
            "max_calibration_error": Metric(
                "Largest calibration error of a bin",
                result.max_calibration_error,
                better="lower",
                headline=False,
            ),
            "negative_log_likelihood": Metric.of(
                "Negative log-likelihood, in nats",
                result.negative_log_likelihood,
                percent=False,
                better="lower",
                headline=False,
                note=among,
            ),
            "brier": Metric.of(
                "Brier's score", result.brier, percent=False, better="lower", headline=False
            ),
        }

    def exhibits(
        self, results: Mapping[str, ConfidenceResult], baseline: ConfidenceResult | None
    ) -> Sequence[Exhibit]:
        """Accuracy, models side by side where all are right, then calibration."""
        return confidence_exhibits(results)

    def finding(self, result: ConfidenceResult) -> Finding | None:
        """No skill at all, or errors of which many are sure; a readout's confidence says little."""
        sure = result.sure_errors
        chance = 1 / result.classes
        if result.accuracy.low <= chance <= result.accuracy.high:
            return Finding(
                f"is right in {percent(result.accuracy.value)} of images, which chance among "
                f"{result.classes} classes may give",
                GRAVEST,
            )
        if result.kind != "head" or result.errors < FEW or sure.value < MANY:
            return None
        return Finding(
            f"is sure of itself where it is wrong: {percent(sure.value)} of its errors have a "
            f"confidence above {percent(SURE)}",
            GRAVEST * sure.value,
        )
