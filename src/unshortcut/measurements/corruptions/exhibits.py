"""Plots, tables and pictures of accuracies under corruptions."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from unshortcut.imaging.corruptions import GROUPS
from unshortcut.intervals import wilson
from unshortcut.measurements.corruptions.accuracy import (
    LEVELS,
    NAMES,
    Conditions,
    CorruptionsResult,
    corruption_errors,
    reference_errors,
)
from unshortcut.measuring.exhibits import Cell, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, Curve, bars, curves, plain

OWN_TEXTURES = (
    "snow and frost use generated textures, so an mCE that includes them cannot be compared with "
    "published ones"
)

Results = Mapping[str, CorruptionsResult]
"""Results by model."""


def corruption_exhibits(
    results: Results, baseline: CorruptionsResult | None, shown: int
) -> list[Exhibit]:
    """Notes, plots, a table, and pictures at the severity `shown`."""
    return [
        *_notes(list(results.values()), baseline),
        _by_severity(results),
        _by_group(results),
        *(_heat_map(name, result) for name, result in results.items()),
        _table(results, baseline),
        _sheet(next(iter(results.values())), shown),
    ]


def unlike_alexnet(conditions: Conditions) -> str:
    """Why AlexNet's errors are not a suitable reference; empty if they are."""
    if conditions.like_alexnet:
        return ""
    severities = "ImageNet" if conditions.severities == "imagenet" else "CIFAR"
    classes = "ImageNet's 1000" if conditions.imagenet else str(conditions.num_classes)
    return (
        "AlexNet's errors were measured on ImageNet's 1000 classes at 224 px with the severities "
        f"for ImageNet, these on {classes} classes at {conditions.size} px with those for "
        f"{severities}, so an mCE relative to AlexNet means little"
    )


def without_errors(baseline: CorruptionsResult) -> str:
    """Why there is no mCE relative to a baseline; empty if there is one."""
    errors = reference_errors(baseline, NAMES).tolist()
    names = [readable(name) for name, error in zip(NAMES, errors, strict=True) if error == 0]
    return f"the baseline makes no errors under {', '.join(names)}" if names else ""


def readable(name: str) -> str:
    """The name of a corruption with spaces for underscores."""
    return name.replace("_", " ")


def _notes(
    results: Sequence[CorruptionsResult], baseline: CorruptionsResult | None
) -> list[Exhibit]:
    first = results[0].conditions
    low, high = wilson(first.num_images / 2, first.num_images)
    notes: list[Exhibit] = [
        Note(
            f"{first.num_images} of {first.total} images at {first.size} px, with the severities "
            f"of {'ImageNet-C' if first.severities == 'imagenet' else 'CIFAR-10-C'}. The accuracy "
            "for one corruption at one severity has a margin of error of about "
            f"{50 * (high - low):.0f} points."
        ),
        Note(f"{OWN_TEXTURES[0].upper()}{OWN_TEXTURES[1:]}; the mCE over the 13 others can."),
    ]
    reasons = [reason for one in results if (reason := unlike_alexnet(one.conditions))]
    if baseline is None and reasons:
        notes.append(Note(f"{reasons[0]}. A baseline model is a better reference.", True))
    return notes


def _by_severity(results: Results) -> Plot:
    lines = {
        name: Curve.of([0, *LEVELS], [result.clean, *result.by_severity])
        for name, result in results.items()
    }
    return Plot(
        "Accuracy by severity",
        curves(lines, "severity (0: clean)", "accuracy"),
        "Means over the 15 corruptions, with 95 % intervals.",
    )


def _by_group(results: Results) -> Plot:
    series = {
        name: Bars.of([result.clean, *result.groups.values()]) for name, result in results.items()
    }
    return Plot(
        "Accuracy by group",
        bars(["clean", *GROUPS], series, "accuracy"),
        "Means over the corruptions of a group and the five severities, with 95 % intervals.",
    )


def _heat_map(name: str, result: CorruptionsResult) -> Plot:
    figure = go.Figure(
        go.Heatmap(
            x=[str(level) for level in LEVELS],
            y=[readable(corruption) for corruption in NAMES],
            z=[list(result.accuracy[corruption]) for corruption in NAMES],
            zmin=0,
            zmax=1,
            colorscale="Viridis",
            colorbar={"tickformat": ".0%"},
            hovertemplate="%{y}, severity %{x}: %{z:.1%}<extra></extra>",
        )
    )
    figure.update_layout(xaxis_title="severity")
    figure.update_xaxes(type="category")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return Plot(f"Accuracy under each corruption: {name}", plain(figure), height=460)


def _table(results: Results, baseline: CorruptionsResult | None) -> Table:
    reference = reference_errors(baseline, NAMES)
    groups = {name: group for group, names in GROUPS.items() for name in names}
    whose = "AlexNet's" if baseline is None else "the baseline's"
    columns = [Column("Corruption"), Column("Group")]
    cells: list[list[Cell]] = [[readable(name), groups[name]] for name in NAMES]
    for name, result in results.items():
        titles = ("Accuracy", "CE") if len(results) == 1 else (f"{name}: accuracy", f"{name}: CE")
        columns += [
            Column(titles[0], percent=True, tip="mean over the five severities"),
            Column(titles[1], percent=True, tip=f"error divided by {whose}"),
        ]
        ratios = corruption_errors(result.errors(NAMES).mean(axis=0), reference)
        for row, corruption, ratio in zip(cells, NAMES, ratios.tolist(), strict=True):
            row += [result.mean_accuracy(corruption), None if np.isnan(ratio) else ratio]
    return Table(
        "Accuracy by corruption",
        columns,
        cells,
        f"Accuracy is the mean over the five severities, CE the error divided by {whose}.",
    )


def _sheet(result: CorruptionsResult, shown: int) -> Pictures:
    clean, *corrupted = result.pictures
    by_name = dict(zip(NAMES, corrupted, strict=True))
    rows = [(group, tuple(by_name[name] for name in names)) for group, names in GROUPS.items()]
    return Pictures(
        f"One image under the corruptions at severity {shown}", (("clean", (clean,)), *rows)
    )
