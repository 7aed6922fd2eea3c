"""What the page shows of accuracies under corruptions."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from unshortcut.imaging.corruptions import GROUPS
from unshortcut.measurements.corruptions.accuracy import (
    LEVELS,
    NAMES,
    Conditions,
    CorruptionsResult,
    reference_errors,
)
from unshortcut.measurements.corruptions.mce import corruption_errors
from unshortcut.measuring.estimates.statistics import wilson
from unshortcut.measuring.exhibits import Cell, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.plots import Bars, Curve, bars, curves, plain

DRAWN = "snow and frost are drawn here, so an mCE with them is not comparable with published ones"

Results = Mapping[str, CorruptionsResult]
"""By model."""


def corruption_exhibits(
    results: Results, baseline: CorruptionsResult | None, shown: int
) -> list[Exhibit]:
    """Notes, plots, a table, and pictures, which are of the severity `shown`."""
    return [
        *_notes(list(results.values()), baseline),
        _by_severity(results),
        _by_group(results),
        *(_heat_map(name, result) for name, result in results.items()),
        _table(results, baseline),
        _sheet(next(iter(results.values())), shown),
    ]


def foreign(conditions: Conditions) -> str:
    """Why AlexNet's errors are no measure of these; empty where they are."""
    if conditions.alexnets:
        return ""
    severities = "ImageNet" if conditions.severities == "imagenet" else "CIFAR"
    classes = "ImageNet's thousand" if conditions.imagenet else str(conditions.classes)
    return (
        "AlexNet's errors are of ImageNet's thousand classes at 224 px with ImageNet's "
        f"severities; here are {classes} classes at {conditions.size} px with {severities}'s: an "
        "mCE against AlexNet means little"
    )


def flawless(baseline: CorruptionsResult) -> str:
    """Why there is no mCE against a baseline; empty where there is one."""
    errors = reference_errors(baseline, NAMES).tolist()
    names = [plainly(name) for name, error in zip(NAMES, errors, strict=True) if error == 0]
    return f"the baseline makes no errors under {', '.join(names)}" if names else ""


def plainly(name: str) -> str:
    """A corruption's name, for people."""
    return name.replace("_", " ")


def _notes(
    results: Sequence[CorruptionsResult], baseline: CorruptionsResult | None
) -> list[Exhibit]:
    first = results[0].conditions
    low, high = wilson(first.n / 2, first.n)
    notes: list[Exhibit] = [
        Note(
            f"{first.n} of {first.total} images at {first.size} px, with the severities of "
            f"{'ImageNet-C' if first.severities == 'imagenet' else 'CIFAR-10-C'}. An accuracy of "
            f"one corruption at one severity is certain to about {50 * (high - low):.0f} points."
        ),
        Note(f"{DRAWN[0].upper()}{DRAWN[1:]}; the one over the 13 others leaves them out."),
    ]
    reasons = [foreign(result.conditions) for result in results]
    if baseline is None and any(reasons):
        said = next(text for text in reasons if text)
        notes.append(
            Note(f"{said[0].upper()}{said[1:]}. A baseline model is a better reference.", True)
        )
    return notes


def _by_severity(results: Results) -> Plot:
    lines = {
        name: Curve.of([0, *LEVELS], [result.clean, *result.by_severity])
        for name, result in results.items()
    }
    return Plot(
        "Accuracy by severity",
        curves(lines, "severity (0: clean)", "accuracy"),
        "Means over the 15 corruptions; 95 % intervals.",
    )


def _by_group(results: Results) -> Plot:
    series = {
        name: Bars.of([result.clean, *result.groups.values()]) for name, result in results.items()
    }
    return Plot(
        "Accuracy by group",
        bars(["clean", *GROUPS], series, "accuracy"),
        "Means over the corruptions of a group and the five severities; 95 % intervals.",
    )


def _heat_map(name: str, result: CorruptionsResult) -> Plot:
    figure = go.Figure(
        go.Heatmap(
            x=[str(level) for level in LEVELS],
            y=[plainly(corruption) for corruption in NAMES],
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
    cells: list[list[Cell]] = [[plainly(name), groups[name]] for name in NAMES]
    for name, result in results.items():
        titles = ("Accuracy", "CE") if len(results) == 1 else (f"{name}: accuracy", f"{name}: CE")
        columns += [
            Column(titles[0], percent=True, tip="mean over the five severities"),
            Column(titles[1], percent=True, tip=f"error over {whose}"),
        ]
        ratios = corruption_errors(result.errors(NAMES).mean(axis=0), reference)
        for row, corruption, ratio in zip(cells, NAMES, ratios.tolist(), strict=True):
            row += [result.mean_accuracy(corruption), None if np.isnan(ratio) else ratio]
    return Table(
        "Each corruption",
        tuple(columns),
        tuple(tuple(row) for row in cells),
        f"Accuracy is the mean over the five severities; CE is the error over {whose}.",
    )


def _sheet(result: CorruptionsResult, shown: int) -> Pictures:
    clean, *corrupted = result.pictures
    by_name = dict(zip(NAMES, corrupted, strict=True))
    rows = [(group, tuple(by_name[name] for name in names)) for group, names in GROUPS.items()]
    return Pictures(
        f"One image under the corruptions, severity {shown}", (("clean", (clean,)), *rows)
    )
