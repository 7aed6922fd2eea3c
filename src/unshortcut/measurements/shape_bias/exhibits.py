"""What the page shows of decisions on conflict stimuli: the figure by class, tables, stimuli."""

import math
from collections.abc import Mapping
from dataclasses import astuple

import numpy as np

from unshortcut.measurements.shape_bias.cue_decisions import Example, ShapeBiasResult
from unshortcut.measurements.shape_bias.plot import Point, bias_by_class
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    Table,
    interval,
)
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.class_names import CATEGORIES

HUMANS = 0.96
"""Shape bias of people on the published stimuli (Geirhos et al. 2019)."""
RESNET50 = {"mean": 0.2139, "sum": 0.2207}
"""Of torchvision's ResNet-50, by how a category gets its probability; the published is the sum."""
ROWS = 32
"""Classes that the plot has, at most."""


def exhibits(results: Mapping[str, ShapeBiasResult]) -> list[Exhibit]:
    """Of models, in the order of the page."""
    return [
        *_notes(results),
        _by_class(results),
        _overall(results),
        _accuracies(results),
        _stimuli(results),
        _classes(results),
    ]


def _notes(results: Mapping[str, ShapeBiasResult]) -> list[Exhibit]:
    """How to read the figures of each model; what all share is said once."""
    said = {name: _reading(result) for name, result in results.items()}
    notes: list[Exhibit]
    if len(set(said.values())) == 1:
        notes = [Note(next(iter(said.values())))]
    else:
        notes = [Note(f"{name}: {text}") for name, text in said.items()]
    for name, result in results.items():
        if not result.telling:
            named = result.shape + result.texture
            guessed = f"guessing gives {result.guessing * result.conflicts:.0f}"
            text = f"{name} names either cue in only {named} of {result.conflicts} conflicts"
            said_of_it = f"{text} ({guessed}): its shape bias says next to nothing."
            notes.append(Note(said_of_it, warning=True))
    return notes


def _reading(result: ShapeBiasResult) -> str:
    parts = [
        f"Decided by {result.decides}, among {len(result.candidates)} classes.",
        f"{result.conflicts} of {result.stimuli} stimuli count.",
    ]
    if result.grouped:
        other = "sum" if result.aggregate == "mean" else "mean"
        parts.append(
            f"The probability of a class is the {result.aggregate} of those of its fine classes; "
            f"a figure by the {other} is another one."
        )
    if result.agreeing:
        parts.append(f"The cues of {result.agreeing} agree.")
    if result.unnamed:
        classes = ", ".join(result.missing)
        parts.append(f"{result.unnamed} have a cue that the model cannot name ({classes}).")
    if result.unreadable:
        parts.append(f"{result.unreadable} cannot be read.")
    if result.available - result.unreadable > result.conflicts:
        parts.append(f"The {result.conflicts} are a random part of {result.available}.")
    return " ".join(parts)


def _by_class(results: Mapping[str, ShapeBiasResult]) -> Plot:
    points = {
        name: {
            one.name: Point(
                one.bias.value,
                one.bias.low,
                one.bias.high,
                f"{one.shape} for shape, {one.texture} for texture, of {one.conflicts}",
            )
            for one in result.classes
        }
        for name, result in results.items()
    }
    order = _from_texture_to_shape(results)
    shown = order if len(order) <= ROWS else [*order[: ROWS // 2], *order[-ROWS // 2 :]]
    caption = "A point is a class of shapes with its 95 % interval, a line is all of them together."
    if len(shown) < len(order):
        caption += f" Of {len(order)} classes, the {ROWS // 2} at either end."
    references = {}
    if all(result.candidates == tuple(CATEGORIES) for result in results.values()):
        aggregate = next(iter(results.values())).aggregate  # a setting of all models
        references = {"humans": HUMANS, "ResNet-50": RESNET50[aggregate]}
        caption += (
            " Dotted, on the 1,280 published stimuli: humans (Geirhos et al. 2019), and "
            f"torchvision's ResNet-50 by the {aggregate}."
        )
    overall = {name: result.bias.value for name, result in results.items()}
    return Plot(
        "Shape bias by class of the shape",
        bias_by_class(shown, points, overall, references),
        caption,
        height=130 + len(shown) * (16 + 8 * len(results)),
    )


def _from_texture_to_shape(results: Mapping[str, ShapeBiasResult]) -> list[str]:
    """Classes by the models' mean bias, those without one last."""
    biases: dict[str, list[float]] = {}
    for result in results.values():
        for one in result.classes:
            known = [] if math.isnan(one.bias.value) else [one.bias.value]
            biases.setdefault(one.name, []).extend(known)
    return sorted(biases, key=lambda name: float(np.mean(biases[name])) if biases[name] else 2.0)


def _overall(results: Mapping[str, ShapeBiasResult]) -> Table:
    return Table(
        "Decisions on conflicts",
        (
            MODEL,
            Column("Shape bias", percent=True, tip="shape / (shape + texture)"),
            *interval("bias", percent=True),
            Column("Coverage", percent=True, tip="(shape + texture) / conflicts"),
            Column("Shape", tip="decisions for the class of the shape"),
            Column("Texture", tip="decisions for the class of the texture"),
            Column("Conflicts", tip="stimuli decided on: shape and texture of different classes"),
            Column("Accuracy, shape label", percent=True, tip="shape / conflicts"),
            Column("Accuracy, texture label", percent=True, tip="texture / conflicts"),
        ),
        tuple(
            (
                name,
                *astuple(one.bias),
                one.coverage.value,
                one.shape,
                one.texture,
                one.conflicts,
                one.shape_accuracy.value,
                one.texture_accuracy.value,
            )
            for name, one in results.items()
        ),
    )


def _accuracies(results: Mapping[str, ShapeBiasResult]) -> Plot:
    series = {
        name: Bars.of([one.shape_accuracy, one.texture_accuracy]) for name, one in results.items()
    }
    chances = {1 / len(one.candidates) for one in results.values()}
    return Plot(
        "Accuracy where the shape, or the texture, is the label",
        bars(
            ["shape", "texture"],
            series,
            "accuracy on conflicts",
            level=("chance", chances.pop()) if len(chances) == 1 else None,
        ),
        "The same decisions, counted against all conflicts.",
    )


def _stimuli(results: Mapping[str, ShapeBiasResult]) -> Pictures:
    rows = tuple(
        (name, tuple(_captioned(one) for one in result.examples))
        for name, result in results.items()
    )
    return Pictures(
        "Some stimuli, drawn at random",
        rows,
        caption="The decision stands after the colon. A solid frame and ✓: for the shape. A dashed "
        "frame and ✕: for the texture. No frame: for another class.",
    )


def _captioned(example: Example) -> Picture:
    said = example.decided or "none of the classes"
    mark = {"shape": "good", "texture": "bad", "neither": ""}[example.follows]
    text = f"{example.shape} with the texture of {example.texture}: {said}"
    return Picture(example.picture.source, text, mark)


def _classes(results: Mapping[str, ShapeBiasResult]) -> Table:
    return Table(
        "Shape bias by class of the shape",
        (
            Column("Class"),
            MODEL,
            Column("Shape bias", percent=True),
            *interval("bias", percent=True),
            Column("Coverage", percent=True),
            Column("Shape"),
            Column("Texture"),
            Column("Conflicts"),
        ),
        tuple(
            (
                one.name,
                name,
                *astuple(one.bias),
                one.coverage,
                one.shape,
                one.texture,
                one.conflicts,
            )
            for name, result in results.items()
            for one in result.classes
        ),
        folded=True,
    )
