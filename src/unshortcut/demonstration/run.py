"""The demo, step by step."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.demonstration.cheater import Cheating, expose, train_cheater
from unshortcut.demonstration.clock import Clock
from unshortcut.demonstration.encoders import (
    KINDS,
    RECIPES,
    UNTRAINED,
    chart,
    data_sheet,
    embedded,
    scores_of,
    table,
    untrained,
    write_audit,
)
from unshortcut.demonstration.runs import interrupted_and_resumed, trained
from unshortcut.models.load import LoadedModel
from unshortcut.probes.base import Score
from unshortcut.result import RESULT_FILE, write_result

CHEATER_PAGE, CHEATER_PICTURE = "cheater.html", "cheater.png"
PAGE = "report.html"
SHORT = "MoCo-v2, a minute"
SHORT_RECIPE = "moco-v2-40ep-shapes"
SHORT_EPOCHS = 10

CHEAT, FIND = "training a classifier that cheats", "finding out what it goes by"
SHOW = "training MoCo-v2 for a minute, with an interruption"
PROBE, AUDIT = "probing encoders that cheat less", "auditing them side by side"
SECONDS = {CHEAT: 40.0, FIND: 15.0, SHOW: 50.0, PROBE: 30.0, AUDIT: 30.0}
"""Seconds of each step on two cores; where they are off, the time that is left is soon right."""
ABOUT_SPLITS = (
    "In [b]test[/], shape and texture agree; in [b]conflict[/] they do not, and the label is the "
    "shape; [b]sketch[/] and [b]silhouette[/] have no texture, and [b]texture[/] has no shape. "
    "[b]rotation[/] asks by which multiple of 90 degrees an image of test was rotated."
)
TRAINING_SECONDS = 200.0
"""Seconds of one of the trainings of `RECIPES`."""


@dataclass(frozen=True)
class Demo:
    """The result of the demo."""

    folder: Path
    cheating: Cheating
    scores: dict[tuple[str, str, str], Score]
    """Accuracy by (encoder, kind of probe, column)."""
    seconds: float
    first_picture_seconds: float


def demo(
    out: str | Path = "demo",
    *,
    seed: int = 0,
    train: bool = False,
    console: Console | None = None,
) -> Demo:
    """Train a classifier that cheats and show how; then compare encoders that cheat less.

    Writes to `out`: `cheater.html` and `cheater.png` (what the classifier goes by), `shapes.png`
    (the data), `accuracy.png` (the table of probes as bars), `report.html` (an audit of all
    encoders), `result.json`, and the run folders. An interrupted demo is continued.

    Args:
        train: train the encoders, for minutes each, instead of using those of the package, and
            leave out the short training.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    console = console or Console(stderr=True)
    clock = Clock(_steps(train), console)
    command = f"unshortcut demo --out {folder.name}" + (" --train" if train else "")
    clock.begin(CHEAT)
    cheater = train_cheater(folder, seed, console)
    clock.begin(FIND)
    page, picture = folder / CHEATER_PAGE, folder / CHEATER_PICTURE
    cheating = expose(cheater, page, picture, seed, console, command)
    first = clock.elapsed
    console.print(
        f"[b]It is right on {cheating.accuracy:.1%} of the test images, and on "
        f"{cheating.without_marks:.1%} of the same images without the planted marks.[/] "
        f"Look at {picture} and {page}.",
        highlight=False,
    )
    models, short = _encoders(folder, seed, train, clock, console)
    clock.begin(PROBE)
    data_sheet().save(folder / "shapes.png")
    console.print(ABOUT_SPLITS)
    scores: dict[tuple[str, str, str], Score] = {}
    labels = [*models, *short]
    for number, (label, model) in enumerate({**models, **short}.items()):
        clock.part(label, number / len(labels))
        scores |= {(label, *key): score for key, score in scores_of(model, console).items()}
    Console().print(table(scores, labels))
    chart(scores, labels, folder / "accuracy.png")
    clock.begin(AUDIT)
    verdicts = write_audit(models, folder / PAGE, seed, console, command)
    seconds = clock.elapsed
    metrics: dict[str, Any] = {label: {kind: {} for kind in KINDS} for label in labels}
    for (label, kind, column), score in scores.items():
        metrics[label][kind][column] = score.mean
    metrics |= {
        "cheating": vars(cheating),
        "verdicts": verdicts,
        "seconds": seconds,
        "first_picture_seconds": first,
    }
    write_result(folder / RESULT_FILE, "demo", metrics=metrics, seed=seed, data="shapes")
    console.print(
        f"{seconds:.0f} seconds. The classifier that cheats: {picture}, {page}. "
        f"The encoders: {folder / 'shapes.png'}, {folder / 'accuracy.png'}, {folder / PAGE}.",
        highlight=False,
    )
    return Demo(folder, cheating, scores, seconds, first)


def _steps(train: bool) -> dict[str, float]:
    if not train:
        return SECONDS
    trainings = {_training(label): TRAINING_SECONDS for label in RECIPES}
    return {CHEAT: SECONDS[CHEAT], FIND: SECONDS[FIND], **trainings} | {
        PROBE: SECONDS[PROBE],
        AUDIT: SECONDS[AUDIT],
    }


def _training(label: str) -> str:
    return f"training {label}"


def _encoders(
    folder: Path, seed: int, train: bool, clock: Clock, console: Console
) -> tuple[dict[str, LoadedModel], dict[str, LoadedModel]]:
    """The encoders to compare, and the one that was trained for a minute, by label."""
    models = {UNTRAINED: untrained(seed)}
    if train:
        for label, recipe in RECIPES.items():
            clock.begin(_training(label))
            models[label] = trained(recipe, folder / recipe, seed, console)
        return models, {}
    clock.begin(SHOW)
    sets = (f"schedule.epochs={SHORT_EPOCHS}", "training.knn_epochs=2")
    short = interrupted_and_resumed(SHORT_RECIPE, folder / SHORT_RECIPE, seed, console, sets)
    return models | embedded(), {SHORT: short}
