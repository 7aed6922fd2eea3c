"""Tables and plots of confidence and calibration."""

import math
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import plotly.graph_objects as go

from unshortcut.intervals import wilson
from unshortcut.measurements.confidence.calibration import BINS
from unshortcut.measurements.confidence.certainty import (
    SURE,
    ConfidenceResult,
    where_all_are_right,
)
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Plot, Table
from unshortcut.measuring.plots import color, error_bars, plain
from unshortcut.measuring.wording import percent

Results = Mapping[str, ConfidenceResult]
"""Results by model."""


def confidence_exhibits(results: Results) -> list[Exhibit]:
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


def _accuracy(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Accuracy", percent=True),
        Column("Confidence", percent=True, tip="mean over all images"),
        Column("When right", percent=True, tip="mean confidence of correct decisions"),
        Column("When wrong", percent=True, tip="mean confidence of wrong decisions"),
        Column("Entropy when right", digits=2, tip="in nats"),
        Column("Errors"),
        Column("Sure errors", percent=True, tip=f"errors with a confidence above {percent(SURE)}"),
        Column("Images"),
    )
    rows = [
        (
            name,
            result.accuracy.value,
            result.confidence.value,
            result.confidence_right.value,
            result.confidence_wrong.value,
            result.entropy_right.value,
            result.num_errors,
            result.sure_errors.value,
            result.num_images,
        )
        for name, result in results.items()
    ]
    fewer = {(r.num_images, r.total) for r in results.values() if r.num_images < r.total}
    chosen = ", ".join(f"{count} of {total}" for count, total in sorted(fewer))
    caption = f"Measured on {chosen} images, a stratified random subset." if fewer else ""
    return Table("Accuracy and confidence", columns, rows, caption)


def _agreed(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Confidence", percent=True),
        *Column.interval("confidence", percent=True),
        Column("Entropy", digits=2, tip="in nats"),
        *Column.interval("entropy", digits=2),
        Column("At most", digits=2, tip="ln K, the entropy if all classes are equally likely"),
    )
    found = where_all_are_right(results)
    rows = [
        (
            name,
            *astuple(one.confidence),
            *astuple(one.entropy),
            math.log(results[name].num_classes),
        )
        for name, one in found.items()
    ]
    count = next(iter(found.values())).num_images
    caption = f"On the {count} images that every model classifies correctly."
    return Table("Where all models are right", columns, rows, caption)


def _calibration(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Calibration error", percent=True),
        Column(
            "By chance",
            percent=True,
            tip="error of a perfectly calibrated model with these confidences",
        ),
        Column("Largest", percent=True, tip="calibration error of the worst bin"),
        Column("Negative log-likelihood", tip="in nats"),
        Column("Brier score"),
    )
    rows = [
        (
            name,
            result.calibration_error,
            result.calibration_error_by_chance,
            result.max_calibration_error,
            result.negative_log_likelihood.value,
            result.brier.value,
        )
        for name, result in results.items()
    ]
    return Table("Calibration", columns, rows, "Lower is better in all columns.")


def _notes(results: Results) -> list[Note]:
    notes = []
    fitted = [name for name, result in results.items() if result.kind != "head"]
    if fitted:
        notes.append(
            Note(
                f"{', '.join(fitted)}: the confidence is that of the classifier fitted on the "
                "features; another classifier would have another confidence."
            )
        )
    for name, result in results.items():
        if result.num_outputs > result.num_classes:
            notes.append(
                Note(
                    f"{name}: only the {result.num_classes} classes of the data are used, out of "
                    f"{result.num_outputs}. Their probabilities are scaled to sum to 1, so "
                    "confidence is higher than among all classes."
                )
            )
    if len({result.num_classes for result in results.values()}) > 1:
        notes.append(
            Note(
                "The models choose from different numbers of classes, so their numbers are not "
                "comparable.",
                warning=True,
            )
        )
    return notes


def reliability_plot(results: Results) -> dict[str, Any]:
    """Accuracy by confidence, one line per model, with larger markers for fuller bins."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"dash": "dot", "width": 1, "color": "#888"},
        name="perfectly calibrated",
        hoverinfo="skip",
    )
    for name, result in results.items():
        filled = [one for one in result.bins if one.count]
        most = max(one.count for one in filled)
        accuracy = [one.accuracy for one in filled]
        low, high = zip(*(wilson(one.right, one.count) for one in filled), strict=True)
        figure.add_scatter(
            x=[one.confidence for one in filled],
            y=accuracy,
            name=name,
            mode="lines+markers",
            line={"color": color(name), "width": 1},
            marker={"size": [5 + 13 * (one.count / most) ** 0.5 for one in filled]},
            error_y=error_bars(accuracy, low, high, color(name)),
            customdata=[[one.right, one.count] for one in filled],
            hovertemplate="confidence %{x:.1%}: accuracy %{y:.1%}, "
            "%{customdata[0]} of %{customdata[1]}",
        )
    figure.update_layout(xaxis_title="confidence", yaxis_title="accuracy")
    figure.update_xaxes(tickformat=".0%", range=[0, 1.02])
    figure.update_yaxes(tickformat=".0%", range=[-0.02, 1.02])
    return plain(figure)


def confidence_histogram(results: Results) -> dict[str, Any]:
    """Shares of a model's decisions by confidence, separately for right and wrong ones."""
    figure = go.Figure()
    for name, result in results.items():
        for kind, dash in (("right", "solid"), ("wrong", "dot")):
            counts = [
                one.right if kind == "right" else one.count - one.right for one in result.bins
            ]
            figure.add_scatter(
                x=[(one.low + one.high) / 2 for one in result.bins],
                y=[count / result.num_images for count in counts],
                name=f"{name}, {kind}",
                mode="lines",
                line={"color": color(name), "dash": dash, "shape": "hvh"},
                customdata=[
                    [one.low, one.high, count]
                    for one, count in zip(result.bins, counts, strict=True)
                ],
                hovertemplate="confidence %{customdata[0]:.0%} to %{customdata[1]:.0%}: "
                f"%{{customdata[2]}} {kind}, %{{y:.1%}} of all",
            )
    figure.update_layout(xaxis_title="confidence", yaxis_title="share of decisions")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return plain(figure)
