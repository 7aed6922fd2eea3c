"""The plot of a claim on the evidence page: its arms by seed, and the paired difference."""

from pathlib import Path
from typing import Any

from unshortcut.files import atomic_open
from unshortcut.measuring.plots import PALETTE, error_bars, plain
from unshortcut.reproduction.evidence import Evidence

_TICK_LETTERS = 36
"""Characters of tick labels that fit under the arms."""


def draw_evidence(evidence: Evidence, path: Path) -> None:
    """Write a small PNG: left the arms, with a line per seed; right the primary effect."""
    import matplotlib.pyplot as plt

    arms, primary = evidence.arms, evidence.primary
    assert primary is not None, "there is a result"
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(4.6, 2.2), width_ratios=(2, 1), layout="constrained"
    )
    for values in zip(*arms.values(), strict=True):
        left.plot(list(arms), values, color=PALETTE[0], marker="o", markersize=4, alpha=0.6)
    left.set_title(evidence.column.title, fontsize=9)
    left.tick_params(labelsize=7)
    if len("".join(arms)) > _TICK_LETTERS:
        left.set_xticks(range(len(arms)), list(arms), rotation=30, ha="right")
    left.margins(x=0.2)
    right.axhspan(-primary["margin"], primary["margin"], color="0.9")
    right.axhline(0, color="0.4", linewidth=0.8)
    right.plot([0] * len(primary["values"]), primary["values"], "o", color=PALETTE[0], alpha=0.6)
    if primary["interval"] is not None:
        low, high = primary["interval"]
        reach = [[primary["mean"] - low], [high - primary["mean"]]]
        right.errorbar([0.5], [primary["mean"]], reach, fmt="D", color=PALETTE[1], capsize=4)
    right.set(xlim=(-0.6, 1.1), xticks=[0, 0.5], xticklabels=["seeds", "mean"])
    right.set_title("effect", fontsize=9)
    right.tick_params(labelsize=7)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    with atomic_open(path) as file:
        figure.savefig(file, dpi=110, format="png", metadata={"Software": None})
    plt.close(figure)


def evidence_figure(evidence: Evidence) -> dict[str, Any]:
    """The primary effect as a Plotly figure: a point per seed, the mean and its interval."""
    import plotly.graph_objects as go

    primary = evidence.primary
    assert primary is not None, "there is a result"
    values, mean, digits = primary["values"], primary["mean"], evidence.column.digits + 1
    low, high = primary["interval"] or (None, None)
    bars = error_bars([mean], None if low is None else [low], None if high is None else [high])
    names = [f"seed {seed}" for seed in range(len(values))]
    shown = f"%{{y}}: %{{x:.{digits}f}}"
    figure = go.Figure(
        [
            go.Scatter(
                x=values, y=names, mode="markers", name="seeds", hovertemplate=shown,
                marker={"size": 9},
            ),
            go.Scatter(
                x=[mean], y=["mean"], mode="markers", name="mean and 95 % interval",
                hovertemplate=shown, error_x=bars, marker={"size": 11, "symbol": "diamond"},
            ),
        ]
    )  # fmt: skip
    margin = primary["margin"]
    figure.add_vline(x=0, line={"width": 1})
    for end in (-margin, margin):
        figure.add_vline(x=end, line={"dash": "dot", "width": 1})
    figure.update_layout(xaxis_title=f"{evidence.column.title}, {primary['effect']}")
    return plain(figure)
