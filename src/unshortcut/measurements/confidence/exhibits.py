"""What the page shows of confidence and calibration."""

import math
from collections.abc import Mapping
from dataclasses import astuple

from unshortcut.measurements.confidence.calibration import BINS
from unshortcut.measurements.confidence.certainty import (
    SURE,
    ConfidenceResult,
    where_all_are_right,
)
from unshortcut.measurements.confidence.plots import confidence_histogram, reliability_plot
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Plot, Table, interval
from unshortcut.measuring.wording import percent

Results = Mapping[str, ConfidenceResult]
"""By model."""


def confidence_exhibits(results: Results) -> list[Exhibit]:
    """Accuracy, models side by side where all are right, then calibration."""
    bins = {name: result.bins for name, result in results.items()}
    return [
        _accuracy(results),
        *([_agreed(results)] if len(results) > 1 else []),
        Plot(
            "Right as often as it says?",
            reliability_plot(bins),
            f"Decisions in {BINS} bins by confidence. Below the dotted line a model is surer than "
            "it is right. Larger marks hold more decisions; the bars are 95 % intervals.",
        ),
        Plot(
            "How sure are its decisions?",
            confidence_histogram(bins),
            "Right decisions are solid, wrong ones dotted.",
        ),
        _calibration(results),
        *_notes(results),
    ]


def _accuracy(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Accuracy", percent=True),
        Column("Confidence", percent=True, tip="mean over all images"),
        Column("Where right", percent=True, tip="mean confidence of right decisions"),
        Column("Where wrong", percent=True, tip="mean confidence of wrong decisions"),
        Column("Entropy where right", digits=2, tip="in nats"),
        Column("Errors"),
        Column("Sure errors", percent=True, tip=f"errors with a confidence above {percent(SURE)}"),
        Column("Images"),
    )
    rows = tuple(
        (
            name,
            result.accuracy.value,
            result.confidence.value,
            result.confidence_right.value,
            result.confidence_wrong.value,
            result.entropy_right.value,
            result.errors,
            result.sure_errors.value,
            result.images,
        )
        for name, result in results.items()
    )
    fewer = {(one.images, one.total) for one in results.values() if one.images < one.total}
    chosen = ", ".join(f"{images} of {total}" for images, total in sorted(fewer))
    caption = f"Of the data's images, {chosen} are looked at, each class in its share."
    return Table("Accuracy and confidence", columns, rows, caption if fewer else "")


def _agreed(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Confidence", percent=True),
        *interval("confidence", percent=True),
        Column("Entropy", digits=2, tip="in nats"),
        *interval("entropy", digits=2),
        Column("At most", digits=2, tip="ln K, the entropy of no decision at all"),
    )
    found = where_all_are_right(results)
    rows = tuple(
        (
            name,
            *astuple(one.confidence),
            *astuple(one.entropy),
            math.log(results[name].classes),
        )
        for name, one in found.items()
    )
    images = next(iter(found.values())).images
    return Table(
        "Where all models are right",
        columns,
        rows,
        f"Over the {images} images that every model gets right.",
    )


def _calibration(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Calibration error", percent=True),
        Column(
            "By chance",
            percent=True,
            tip="what a perfectly calibrated model with these confidences would show",
        ),
        Column("Largest", percent=True, tip="calibration error of the worst bin"),
        Column("Negative log-likelihood", tip="in nats"),
        Column("Brier's score"),
    )
    rows = tuple(
        (
            name,
            result.calibration_error,
            result.calibration_error_by_chance,
            result.max_calibration_error,
            result.negative_log_likelihood.value,
            result.brier.value,
        )
        for name, result in results.items()
    )
    return Table("Calibration", columns, rows, "Lower is better in all columns.")


def _notes(results: Results) -> list[Note]:
    notes = []
    fitted = [name for name, result in results.items() if result.kind != "head"]
    if fitted:
        notes.append(
            Note(
                f"{', '.join(fitted)}: the confidence is that of the readout, and another readout "
                "would have another."
            )
        )
    for name, result in results.items():
        if result.outputs > result.classes:
            notes.append(
                Note(
                    f"{name}: of {result.outputs} classes only the {result.classes} of the data "
                    "count. Their probabilities are scaled to sum to 1, so confidence is higher "
                    "than among all."
                )
            )
    if len({result.classes for result in results.values()}) > 1:
        notes.append(
            Note(
                "The models decide among different numbers of classes, so their figures do not "
                "compare.",
                warning=True,
            )
        )
    return notes
