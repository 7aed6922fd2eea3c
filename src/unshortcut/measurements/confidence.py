"""Accuracy, confidence and calibration of a model on the unmodified data."""

import math
from collections.abc import Mapping
from dataclasses import astuple
from functools import partial

from unshortcut.measurements.measurement import Finding, Metric, Metrics, OnPlainImages
from unshortcut.measuring.calibration import (
    BINS,
    SURE,
    ConfidenceResult,
    confidence_of,
    where_all_are_right,
)
from unshortcut.measuring.exhibits import MODEL, Cell, Column, Exhibit, Note, Plot, Table
from unshortcut.measuring.reliability_plots import confidence_histogram, reliability_plot
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MANY, FEW = 0.2, 20
"""The verdict mentions this share of confident errors or more, if there are enough errors."""
HIGHEST_WEIGHT = 0.6
"""Weight of a model whose errors are all confident: that is bad, but no shortcut."""

Results = Mapping[str, ConfidenceResult]


class Confidence(OnPlainImages[ConfidenceResult]):
    """How often a model is right, and how confident it is when it is right and when it is wrong."""

    name = "confidence"
    title = "Accuracy and confidence"
    question = "How accurate is the model, and is it less confident when it is wrong?"
    definition = (
        "Accuracy is the share of images whose label has the largest probability; for more than "
        "ten classes, top-5 accuracy is the share whose label is among the five likeliest, where "
        "of equally likely classes the first counts. The confidence "
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
    version = 2
    gives = (
        "accuracy",
        "top5_accuracy",
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

    def metrics(self, result: ConfidenceResult, baseline: ConfidenceResult | None) -> Metrics:
        count, among = f"{result.num_images} images", f"among {result.num_classes} classes"
        by_chance = percent(result.calibration_error_by_chance, 1)
        detail = partial(Metric.of, headline=False)
        note, top5 = f"{count}, {among}", result.top5_accuracy
        both = {"accuracy": Metric.of("Accuracy", result.accuracy, better="higher", note=note)}
        if top5 is not None:
            both["top5_accuracy"] = Metric.of("Top-5 accuracy", top5, better="higher", note=note)
        return {
            **both,
            "calibration_error": Metric(
                "Calibration error",
                result.calibration_error,
                better="lower",
                note=f"a calibrated model would have {by_chance} on {count}",
            ),
            "sure_errors": Metric.of(
                f"Errors with a confidence above {percent(SURE)}",
                result.sure_errors,
                better="lower",
                note=f"of {result.num_errors} errors",
            ),
            "confidence_right": detail("Confidence when right", result.confidence_right),
            "confidence_wrong": detail("Confidence when wrong", result.confidence_wrong),
            "entropy_right": detail(
                "Entropy when right, in nats", result.entropy_right, percent=False, note=among
            ),
            "max_calibration_error": Metric(
                "Largest calibration error of a bin",
                result.max_calibration_error,
                better="lower",
                headline=False,
            ),
            "negative_log_likelihood": detail(
                "Negative log-likelihood, in nats",
                result.negative_log_likelihood,
                percent=False,
                better="lower",
                note=among,
            ),
            "brier": detail("Brier score", result.brier, percent=False, better="lower"),
        }

    def exhibits(self, results: Results, baseline: ConfidenceResult | None) -> list[Exhibit]:
        """Accuracy, confidence where all models are right, then calibration."""
        return [
            _accuracy(results),
            *([_agreed(results)] if len(results) > 1 else []),
            Plot(
                "Accuracy by confidence",
                reliability_plot(results),
                f"Decisions in {BINS} bins by confidence. Below the dotted line a model is more "
                "confident than accurate. Larger markers stand for more decisions; with 95 % "
                "intervals.",
            ),
            Plot(
                "Distribution of confidence",
                confidence_histogram(results),
                "Solid lines are correct decisions, dotted lines wrong ones.",
            ),
            _calibration(results),
            *_notes(results),
        ]

    def finding(self, result: ConfidenceResult) -> Finding | None:
        """Accuracy at chance, or many confident errors of a model's own head."""
        sure, accuracy = result.sure_errors, result.accuracy
        if accuracy.low <= 1 / result.num_classes <= accuracy.high:
            return Finding(
                f"has an accuracy of {percent(accuracy.value)}, no better than chance among "
                f"{result.num_classes} classes",
                HIGHEST_WEIGHT,
                "is no better than chance",
            )
        if result.kind != "head" or result.num_errors < FEW or sure.value < MANY:
            return None
        return Finding(
            f"is confident even when it is wrong: {percent(sure.value)} of its errors have a "
            f"confidence above {percent(SURE)}",
            HIGHEST_WEIGHT * sure.value,
            "is confident even when it is wrong",
        )


def _accuracy(results: Results) -> Table:
    with_top5 = any(one.top5_accuracy is not None for one in results.values())
    columns = (
        MODEL,
        Column("Accuracy", percent=True),
        *([Column("Top-5", percent=True, tip="top-5 accuracy")] if with_top5 else []),
        Column("Confidence", percent=True, tip="mean over all images"),
        Column("When right", percent=True, tip="mean confidence of correct decisions"),
        Column("When wrong", percent=True, tip="mean confidence of wrong decisions"),
        Column("Entropy when right", digits=2, tip="in nats"),
        Column("Errors"),
        Column("Sure errors", percent=True, tip=f"errors with a confidence above {percent(SURE)}"),
        Column("Images"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, one in results.items():
        confidence = (one.confidence, one.confidence_right, one.confidence_wrong, one.entropy_right)
        means = [each.value for each in confidence]
        found = one.top5_accuracy
        top5 = [None if found is None else found.value] if with_top5 else []
        errors = (one.num_errors, one.sure_errors.value, one.num_images)
        rows.append((name, one.accuracy.value, *top5, *means, *errors))
    fewer = {(r.num_images, r.total) for r in results.values() if r.num_images < r.total}
    chosen = ", ".join(f"{count} of {total}" for count, total in sorted(fewer))
    caption = f"Measured on {chosen} images, a stratified random subset." if fewer else ""
    return Table("Accuracy and confidence", columns, rows, caption)


def _agreed(results: Results) -> Table:
    columns = (
        MODEL,
        *Column.estimate("Confidence", percent=True, of="confidence"),
        *Column.estimate("Entropy", digits=2, tip="in nats", of="entropy"),
        Column("At most", digits=2, tip="ln K, the entropy if all classes are equally likely"),
    )
    found = where_all_are_right(results)
    most = {name: math.log(result.num_classes) for name, result in results.items()}
    rows = [
        (name, *astuple(one.confidence), *astuple(one.entropy), most[name])
        for name, one in found.items()
    ]
    count = next(iter(found.values())).num_images
    caption = f"On the {count} images that every model classifies correctly."
    return Table("Where all models are right", columns, rows, caption)


def _calibration(results: Results) -> Table:
    tip = "error of a perfectly calibrated model with these confidences"
    columns = (
        MODEL,
        Column("Calibration error", percent=True),
        Column("By chance", percent=True, tip=tip),
        Column("Largest", percent=True, tip="calibration error of the worst bin"),
        Column("Negative log-likelihood", tip="in nats"),
        Column("Brier score"),
    )
    rows = []
    for name, one in results.items():
        errors = (one.calibration_error, one.calibration_error_by_chance, one.max_calibration_error)
        rows.append((name, *errors, one.negative_log_likelihood.value, one.brier.value))
    return Table("Calibration", columns, rows, "Lower is better in all columns.")


def _notes(results: Results) -> list[Note]:
    notes = []
    fitted = ", ".join(name for name, result in results.items() if result.kind != "head")
    if fitted:
        text = (
            "the confidence is that of the classifier fitted on the features; another classifier "
            "would have another confidence."
        )
        notes.append(Note(f"{fitted}: {text}"))
    for name, result in results.items():
        if result.num_outputs > result.num_classes:
            text = (
                f"{name}: only the {result.num_classes} classes of the data are used, out of "
                f"{result.num_outputs}. Their probabilities are scaled to sum to 1, so confidence "
                "is higher than among all classes."
            )
            notes.append(Note(text))
    if len({result.num_classes for result in results.values()}) > 1:
        text = "The models choose from different numbers of classes, so their numbers are not "
        notes.append(Note(text + "comparable.", warning=True))
    return notes
