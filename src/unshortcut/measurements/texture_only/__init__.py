"""Accuracy on images of which only the texture is left, and the classes that it solves."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measurements.texture_only.accuracy import TextureOnlyResult, texture_accuracy
from unshortcut.measuring.exhibits import (
    MODEL,
    Cell,
    Column,
    Exhibit,
    Note,
    Pictures,
    Plot,
    Table,
    interval,
)
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent, some
from unshortcut.progress import OnProgress

IMAGES = 300
"""At most, each texturized in two ways."""
MOST_BARS = 24
"""Classes that are shown one by one; more are shown as a histogram."""
_TELLING = 0.25
"""Part of what a model knows beyond chance that its verdict mentions where texture gives it."""


class TextureOnly(Measurement[TextureOnlyResult]):
    """Synthesized textures and tiled patches of the images."""

    name = "texture_only"
    title = "Texture only"
    question = "How far does it get by texture alone?"
    definition = (
        "Accuracy on images that have kept their texture and lost their shape, in two ways. "
        "Synthesized: a new image that looks locally like two patches of the old one, its center "
        "and a random place, each 96/224 of its side. Tiled: patches from random places, 16/224 "
        "to 72/224 of its side, laid side by side. Both are as in Ge et al. 2021 (negative "
        "samples with diminished semantics; metrics 9 and 10). A class is solved by texture alone "
        "where more than half of its synthesized textures are decided right, and they get its "
        "name more often than textures of other classes do (Fisher's exact test, 5 % over the "
        "number of classes). Intervals are Wilson's, 95 %."
    )
    place = 20
    gives = (
        "texture_only_accuracy",
        "patch_tiling_accuracy",
        "texture_solved_classes",
    )
    result = TextureOnlyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> TextureOnlyResult:
        return texture_accuracy(subject, subject.labeled(IMAGES), on_progress)

    def metrics(
        self, result: TextureOnlyResult, baseline: TextureOnlyResult | None
    ) -> dict[str, Metric]:
        return {
            "texture_only_accuracy": Metric.of(
                "Accuracy on synthesized textures", result.synthesized
            ),
            "patch_tiling_accuracy": Metric.of("Accuracy on tiled patches", result.tiled),
            "texture_solved_classes": Metric(
                "Classes solved by texture alone",
                len(result.solved) / len(result.classes),
                headline=False,
                note=f"of the {len(result.classes)} that have images",
            ),
        }

    def exhibits(
        self, results: Mapping[str, TextureOnlyResult], baseline: TextureOnlyResult | None
    ) -> Sequence[Exhibit]:
        shown: list[Exhibit] = [_overall(results), _by_class(results)]
        shown += [Note(_solved(name, result)) for name, result in results.items()]
        if any(result.examples for result in results.values()):
            shown.append(_examples(results))
        shown.append(_table(results))
        one = next(iter(results.values()))
        shown.append(Note(f"{one.n} of {one.total} images, of {one.size} pixels."))
        return shown

    def finding(self, result: TextureOnlyResult) -> Finding | None:
        textures, chance = result.synthesized, result.chance
        if not (result.plain.low > chance and textures.low > chance):
            return None
        kept = (textures.value - chance) / (result.plain.value - chance)
        if kept < _TELLING:
            return None
        text = (
            f"is right in {percent(textures.value)} of images of mere texture "
            f"(chance {percent(chance)})"
        )
        return Finding(text, 0.9 * min(kept, 1.0))


def _overall(results: Mapping[str, TextureOnlyResult]) -> Plot:
    series = {
        name: Bars.of([result.plain, result.synthesized, result.tiled])
        for name, result in results.items()
    }
    groups = ("plain images", "synthesized textures", "tiled patches")
    figure = bars(groups, series, "accuracy", level=_chance(results))
    return Plot("Accuracy without shape", figure)


def _by_class(results: Mapping[str, TextureOnlyResult]) -> Plot:
    first = next(iter(results.values()))
    by_name = {name: {one.name: one for one in result.classes} for name, result in results.items()}
    common = [
        one.name for one in first.classes if all(one.name in known for known in by_name.values())
    ]
    if not 0 < len(common) <= MOST_BARS:
        return Plot("Classes by accuracy on textures", _histogram(results))
    series = {
        name: Bars.of([known[one].synthesized for one in common]) for name, known in by_name.items()
    }
    figure = bars(common, series, "accuracy on synthesized textures", level=_chance(results))
    return Plot("Accuracy on textures, by class", figure)


def _histogram(results: Mapping[str, TextureOnlyResult]) -> dict[str, Any]:
    """How many classes have which accuracy (figure 9 b)."""
    edges = np.linspace(0, 1, 11)
    names = [f"{100 * low:.0f}–{100 * low + 10:.0f} %" for low in edges[:-1]]
    series = {}
    for name, result in results.items():
        counts, _ = np.histogram([one.synthesized.value for one in result.classes], edges)
        series[name] = Bars(counts.tolist())
    return bars(names, series, "classes", percent=False)


def _solved(name: str, result: TextureOnlyResult) -> str:
    found = result.solved
    if not found:
        return f"{name}: texture alone solves none of {len(result.classes)} classes."
    solved = f"{name}: texture alone solves {len(found)} of {len(result.classes)} classes"
    return f"{solved}: {some(found, MOST_BARS)}."


def _examples(results: Mapping[str, TextureOnlyResult]) -> Pictures:
    rows = tuple(
        (one.name if len(results) == 1 else f"{name}: {one.name}", one.pictures)
        for name, result in results.items()
        for one in result.examples
    )
    return Pictures(
        "Textures that are decided right",
        rows,
        ("image", "synthesized", "tiled"),
        "Of the classes whose textures a model is surest of, the image it is surest of.",
    )


def _table(results: Mapping[str, TextureOnlyResult]) -> Table:
    columns = (
        MODEL,
        Column("Class"),
        Column("Images"),
        Column("Plain", percent=True, tip="accuracy on plain images"),
        Column("Textures", percent=True, tip="accuracy on synthesized textures"),
        *interval(percent=True),
        Column("Tiled", percent=True, tip="accuracy on tiled patches"),
        Column("Elsewhere", percent=True, tip="textures of other classes that get this name"),
        Column("Solved", tip="by texture alone"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            one.name,
            one.n,
            one.plain.value,
            *astuple(one.synthesized),
            one.tiled.value,
            one.elsewhere,
            "yes" if one.solved else "no",
        )
        for name, result in results.items()
        for one in result.classes
    ]
    return Table("All classes", columns, tuple(rows), folded=len(rows) > MOST_BARS)


def _chance(results: Mapping[str, TextureOnlyResult]) -> tuple[str, float] | None:
    """The level of chance, where all models have the same."""
    chances = {result.chance for result in results.values()}
    return ("chance", chances.pop()) if len(chances) == 1 else None
