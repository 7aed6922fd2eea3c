"""A classifier that goes by planted marks, and how the audit finds them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from rich.console import Console

from unshortcut.auditor import audit
from unshortcut.demonstration.runs import trained
from unshortcut.measuring.exhibits import picture_pixels
from unshortcut.models.load import LoadedModel

RECIPE = "supervised-marks-shapes"
MARKED, UNMARKED = "marks=1:shapes@paired-test", "shapes@paired-test"
"""Test images that all have the marks of the training images, and the same without them.

Of the training images, 95 % have a mark; the accuracy on unmarked images is reported by itself.
"""
SHIFT = "the same images without the marks"
MEASURED = ("transplant", "saliency", "domain_shift")
NUM_IMAGES = 1000
SHOWN = 4
"""Patches in the picture, each of another class."""
NAME = "classifier"


@dataclass(frozen=True)
class Cheating:
    """What the audit found out about the classifier; shares from 0 to 1."""

    accuracy: float
    """On the marked test images."""
    without_marks: float
    """On the same images without the marks."""
    follow: float
    """Share of images whose decision follows a pasted patch."""
    chance: float


def train_cheater(folder: Path, seed: int, console: Console) -> LoadedModel:
    """The classifier in a run folder, which is trained or continued if needed."""
    return trained(RECIPE, folder / RECIPE, seed, console)


def expose(
    model: LoadedModel, page: Path, picture: Path, seed: int, console: Console, command: str
) -> Cheating:
    """Audit the classifier, and write a page and a picture of what it goes by."""
    report = audit(
        {NAME: model},
        MARKED,
        shifts={SHIFT: UNMARKED},
        only=MEASURED,
        max_images=NUM_IMAGES,
        seed=seed,
        out=page,
        console=console,
        command=command,
    )
    (shift,) = report.findings.results("domain_shift")[NAME].measured
    found = report.findings.results("transplant")[NAME]
    cheating = Cheating(
        shift.inside.accuracy.value,
        shift.shifted.accuracy.value,
        found.follow.value,
        1 / len(shift.classes),
    )
    _draw(cheating, found, picture)
    return cheating


def _draw(cheating: Cheating, found: Any, path: Path) -> None:
    """Two accuracies, and the patches that decisions follow."""
    chosen: dict[str, Any] = {}
    for winner in found.winners:
        chosen.setdefault(winner.patch.label, winner)
    rows = list(chosen.values())[:SHOWN]
    figure = plt.figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.55))
    axes = left.subplots()
    names = ("on the\ntest images", "on the same images\nwithout the marks")
    heights = [100 * cheating.accuracy, 100 * cheating.without_marks]
    bars = axes.bar(names, heights, 0.6, color=("tab:green", "tab:red"))
    axes.bar_label(bars, fmt="%.1f %%", fontsize=13)
    axes.axhline(100 * cheating.chance, color="black", linewidth=0.8, linestyle=":")
    axes.text(0.5, 100 * cheating.chance + 1.5, "chance", ha="center", fontsize=8)
    axes.set_ylim(0, 108)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    left.suptitle("How often the classifier is right", fontsize=11)
    right.suptitle("What it goes by: patches that the audit found", fontsize=11)
    grid = right.subplots(3, max(1, len(rows)), squeeze=False)
    for column, winner in enumerate(rows):
        for row, picture in enumerate(winner.pictures):
            axes = grid[row, column]
            axes.imshow(picture_pixels(picture), interpolation="nearest")
            axes.set_xticks([])
            axes.set_yticks([])
        grid[0, column].set_title(f"“{winner.patch.label}”", fontsize=9)
    for row, title in enumerate(("an image", "the patch", "pasted: the\ndecision follows")):
        grid[row, 0].set_ylabel(title, fontsize=9)
    figure.savefig(path, dpi=150)
    plt.close(figure)
