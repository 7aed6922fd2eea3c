"""Accuracy, confidence and calibration of a model on the unmodified data."""

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
"""The verdict mentions this share of confident errors or more, if there are enough errors."""
HIGHEST_WEIGHT = 0.6
"""Weight of a model whose errors are all confident: that is bad, but no shortcut."""


class Confidence(Measurement[ConfidenceResult]):
    """How often a model is right, and how confident it is when it is right and when it is wrong."""

    name = "confidence"
    title = "Accuracy and confidence"
    question = "How accurate is the model, and is it less confident when it is wrong?"
    definition = (
        "Accuracy is the share of images whose label has the largest probability. The confidence "
        "of a decision is that probability. Entropy is -Σ p ln p over the classes, in nats: 0 for "
        "a certain decision, ln K if all of K classes are equally likely. Both are averaged over "
        "the images that a model classifies correctly and, to compare models, over those that all "
        "of them classify correctly (table 2.12 of the dissertation on suppressing texture, which "
        f"does not state the base of its logarithm). For the calibration error, decisions are "
        f"divided into {BINS} bins of equal width by confidence. It is the difference between the "
        "accuracy and the mean confidence of a bin, averaged over all decisions; the largest "
        "difference is given too (Guo et al. 2017). On a limited number of images even a perfectly "
        "calibrated model has an error above 0, which is given for comparison. The negative "
        "log-likelihood is -ln of the probability of the label. The Brier score is the squared "
        "distance between the probabilities and the one-hot label, from 0 to 2."
    )
    order = 5
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
        among = f"among {result.num_classes} classes"
        chance = percent(result.calibration_error_by_chance, 1)
        return {
            "accuracy": Metric.of(
                "Accuracy",
                result.accuracy,
                better="higher",
                note=f"{result.num_images} images, {among}",
            ),
            "calibration_error": Metric(
                "Calibration error",
                result.calibration_error,
                better="lower",
                note=f"a calibrated model would have {chance} on {result.num_images} images",
            ),
            "sure_errors": Metric.of(
                f"Errors with a confidence above {percent(SURE)}",
                result.sure_errors,
                better="lower",
                note=f"of {result.num_errors} errors",
            ),
            "confidence_right": Metric.of(
                "Confidence when right", result.confidence_right, headline=False
            ),
            "confidence_wrong": Metric.of(
                "Confidence when wrong", result.confidence_wrong, headline=False
            ),
            "entropy_right": Metric.of(
                "Entropy when right, in nats",
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
                "Brier score", result.brier, percent=False, better="lower", headline=False
            ),
        }

    def exhibits(
        self, results: Mapping[str, ConfidenceResult], baseline: ConfidenceResult | None
    ) -> Sequence[Exhibit]:
        return confidence_exhibits(results)

    def finding(self, result: ConfidenceResult) -> Finding | None:
        """Accuracy at chance, or many confident errors of a model's own head."""
        sure = result.sure_errors
        chance = 1 / result.num_classes
        if result.accuracy.low <= chance <= result.accuracy.high:
            return Finding(
                f"has an accuracy of {percent(result.accuracy.value)}, no better than chance "
                f"among {result.num_classes} classes",
                HIGHEST_WEIGHT,
            )
        if result.kind != "head" or result.num_errors < FEW or sure.value < MANY:
            return None
        return Finding(
            f"is confident even when it is wrong: {percent(sure.value)} of its errors have a "
            f"confidence above {percent(SURE)}",
            HIGHEST_WEIGHT * sure.value,
        )
