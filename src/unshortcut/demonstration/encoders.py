"""The encoders of the demo: those of the package, beside the same encoder before training.

They are probed on the splits of `shapes`, and audited side by side.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image as PillowImage
from rich import box
from rich.console import Console
from rich.table import Column, Table

from unshortcut.auditor import audit
from unshortcut.data.shapes import SHAPE_NAMES, TEXTURE_NAMES, Shapes
from unshortcut.models.load import LoadedModel, from_module, load_model
from unshortcut.probes.base import Score
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.training.fit import preprocessing
from unshortcut.training.pretraining import build_method
from unshortcut.views.sheet import sheet

EMBEDDED = {
    "MoCo-v2": "embedded:moco-v2-shapes",
    "MoCo-v2, patches": "embedded:moco-v2-patch-shapes",
    "LooC, rotation": "embedded:looc-rotation-shapes",
}
"""Encoder of the package by label of the row."""
RECIPES = {
    "MoCo-v2": "moco-v2-40ep-shapes",
    "MoCo-v2, patches": "moco-v2-patch-40ep-shapes",
    "LooC, rotation": "looc-rotation-40ep-shapes",
}
"""Recipe of each of them. All recipes have the same encoder."""
SPLITS = ("test", "conflict", "sketch", "silhouette", "texture")
ROTATION = "rotation"
"""The column that is not a split: which multiple of 90 degrees an image was rotated by."""
COLUMNS = (*SPLITS, ROTATION)
KINDS = ("knn", "linear")
"""Kinds of probes, each with a line in the table."""
TEST_IMAGES = 1000
AUDITED = (
    "shape_bias", "texture_only", "transplant", "saliency", "domain_shift", "confidence",
    "neighbors",
)  # fmt: skip
"""Measurements on the page of the demo, which take seconds each."""
AUDIT_IMAGES = 120
UNTRAINED = "untrained"


def untrained(seed: int) -> LoadedModel:
    """The encoder of the recipes before training."""
    recipe = load_recipe(next(iter(RECIPES.values())), [f"seed={seed}"])
    return from_module(UNTRAINED, build_method(recipe).encoder, preprocessing(recipe))


def embedded() -> dict[str, LoadedModel]:
    """The encoders of the package by label."""
    return {label: load_model(spec) for label, spec in EMBEDDED.items()}


def data_sheet() -> PillowImage.Image:
    """A contact sheet with one image per class from each split of the demo, and of two others."""
    rows, shown = [], (*SPLITS, "paired", "unseen")
    for split in shown:
        source = Shapes(split, count=400)
        labels = source.labels
        assert labels is not None
        first = [int((labels == label).nonzero()[0][0]) for label in range(len(SHAPE_NAMES))]
        rows.append([source.image(index).pixels() for index in first])
    titles = [f"{s}, {t}" for s, t in zip(SHAPE_NAMES, TEXTURE_NAMES, strict=True)]
    return sheet(rows, titles, shown)


def write_audit(
    models: dict[str, LoadedModel], page: Path, seed: int, console: Console, command: str
) -> dict[str, str]:
    """Write the audit of the models as a page; returns the verdict on each model."""
    report = audit(
        models,
        Shapes("test", count=TEST_IMAGES),
        train=Shapes("train"),
        conflict=Shapes("conflict", count=TEST_IMAGES),
        shifts={split: Shapes(split, count=TEST_IMAGES) for split in ("sketch", "silhouette")},
        only=AUDITED,
        max_images=AUDIT_IMAGES,
        seed=seed,
        out=page,
        console=console,
        command=command,
    )
    verdicts = {name: report.findings.verdict(name).text for name in models}
    for name, verdict in verdicts.items():
        Console().print(f"[b]{name}[/] {verdict}", highlight=False)
    return verdicts


def scores_of(model: LoadedModel, console: Console) -> dict[tuple[str, str], Score]:
    """Accuracy by kind of probe and column."""
    train, tests = Shapes("train"), {s: Shapes(s, count=TEST_IMAGES) for s in SPLITS}
    found = {
        (kind, split): score
        for kind in KINDS
        for split, score in probe(model, train, kind, tests=tests, console=console).scores.items()
    }
    rotation = probe(model, train, "rotation", tests={ROTATION: tests["test"]}, console=console)
    return found | {("linear", ROTATION): rotation.scores[ROTATION]}


def table(scores: dict[tuple[str, str, str], Score], labels: list[str]) -> Table:
    table = Table(
        Column("encoder", no_wrap=True), "probe", *COLUMNS,
        title="Accuracy in %, chance 12.5, of rotation 25",
        box=box.SIMPLE_HEAD, padding=0,  # all of it in 80 columns
    )  # fmt: skip
    for label in labels:
        for kind in KINDS:
            found = [scores.get((label, kind, column)) for column in COLUMNS]
            table.add_row(label, kind, *("" if one is None else f"{one.mean:.1f}" for one in found))
    return table


def chart(scores: dict[tuple[str, str, str], Score], labels: list[str], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(9.5, 3.6), layout="constrained")
    width = 0.8 / len(labels)
    for number, label in enumerate(labels):
        positions = [index + number * width for index in range(len(COLUMNS))]
        heights = [scores[label, "linear", column].mean for column in COLUMNS]
        axes.bar_label(axes.bar(positions, heights, width, label=label), fmt="%.0f", fontsize=8)
    axes.set_xticks([index + 0.4 - width / 2 for index in range(len(COLUMNS))], COLUMNS)
    for index, column in enumerate(COLUMNS):
        chance = 25 if column == ROTATION else 100 / len(SHAPE_NAMES)
        ends = index - width / 2, index + 0.8 - width / 2
        axes.hlines(chance, *ends, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel("linear accuracy, %")
    axes.set_ylim(0, 100)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
