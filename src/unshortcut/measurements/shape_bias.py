"""Shape bias: whether a model decides by shape or by texture when the two cues conflict."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.cue_decisions import ShapeBiasResult, decide, num_stimuli
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import MODEL, Column, Exhibit, Note, Pictures, Plot, Table
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars, chance_level, color, error_bars, plain
from unshortcut.measuring.subjects.class_names import CATEGORIES
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

HUMANS = 0.96
"""Shape bias of humans on the published stimuli (Geirhos et al. 2019)."""
RESNET50 = {"mean": 0.2139, "sum": 0.2207}
"""Shape bias of torchvision's ResNet-50 by the mean or sum over the classes of a category; the
published value uses the sum."""
MAX_ROWS = 32
"""Limit on the classes in the plot."""
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "star", "hexagon", "cross", "x")

Results = Mapping[str, ShapeBiasResult]


class ShapeBias(Measurement[ShapeBiasResult]):
    """Decisions on cue-conflict stimuli (Geirhos et al. 2019; Ge et al. 2021, figure 6 a, b)."""

    name = "shape_bias"
    title = "Shape bias"
    question = "If an image has the shape of one class and the texture of another, which one wins?"
    definition = (
        "Shape bias is the number of decisions for the class of the shape, divided by the number "
        "of decisions for the class of the shape or of the texture (Geirhos et al. 2019). Coverage "
        "is the share of all conflicts whose decision is one of the two; with low coverage the "
        "bias means little. Stimuli are shown uncropped, and the model decides among their "
        f"classes. For an ImageNet classifier these are the {len(CATEGORIES)} categories of "
        "Geirhos et al., whose probability is the mean (or, as an option, the sum) of the "
        "probabilities of their classes. Stimuli whose cues agree, or with a cue that the model "
        "does not know, are left out. Intervals are 95 %: a bootstrap over stimuli for the overall "
        "bias, Wilson's otherwise."
    )
    order = 10
    needs = ("conflict",)
    quick = True
    gives = (
        "shape_bias",
        "shape_bias_coverage",
        "conflict_shape_accuracy",
        "conflict_texture_accuracy",
    )
    result = ShapeBiasResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> ShapeBiasResult:
        if subject.conflict is None:
            raise NotApplicable("there are no cue-conflict stimuli")
        return decide(subject, subject.conflict, on_progress)

    def passes(self, subject: Subject) -> Passes:
        return Passes(changed=num_stimuli(subject, subject.conflict) if subject.conflict else 0)

    def metrics(self, result: ShapeBiasResult, baseline: ShapeBiasResult | None) -> Metrics:
        counts = f"{result.shape} decisions for shape and {result.texture} for texture"
        note = f"{counts} in {result.conflicts} conflicts"
        if result.grouped:
            note += f"; by the {result.aggregate} over the classes of a category"
        higher = partial(Metric.of, better="higher")
        shape, texture = "Accuracy on the shape's label", "Accuracy on the texture's label"
        return {
            "shape_bias": higher("Shape bias", result.bias, note=note),
            "shape_bias_coverage": higher("Coverage of the shape bias", result.coverage),
            "conflict_shape_accuracy": higher(shape, result.shape_accuracy, headline=False),
            "conflict_texture_accuracy": Metric.of(
                texture, result.texture_accuracy, better="lower", headline=False
            ),
        }

    def exhibits(self, results: Results, baseline: ShapeBiasResult | None) -> list[Exhibit]:
        return [
            *_notes(results),
            _by_class(results),
            _overall(results),
            _accuracies(results),
            _stimuli(results),
            _classes(results),
        ]

    def finding(self, result: ShapeBiasResult) -> Finding:
        if not result.meaningful:
            return Finding(f"{result.low_coverage}, too few to measure its shape bias", 0.1)
        texture = 1 - result.bias.value
        cue, share = ("texture", texture) if texture > 0.5 else ("shape", result.bias.value)
        named = f"of the {result.shape + result.texture} conflicts in which it names either cue"
        return Finding(f"decides by {cue} in {percent(share)} {named}", texture)


def _notes(results: Results) -> list[Exhibit]:
    """How to read the numbers of each model; an explanation that applies to all comes once."""
    texts = {name: _explanation(result) for name, result in results.items()}
    notes = [Note(f"{name}: {text}") for name, text in texts.items()]
    if len(set(texts.values())) == 1:
        notes = [Note(text) for text in set(texts.values())]
    warnings = [
        Note(f"{name} {result.low_coverage}: its shape bias is meaningless.", warning=True)
        for name, result in results.items()
        if not result.meaningful
    ]
    return [*notes, *warnings]


def _explanation(result: ShapeBiasResult) -> str:
    parts = [
        f"Classified by {result.decides}, among {len(result.candidates)} classes.",
        f"{result.conflicts} of {result.stimuli} stimuli are used.",
    ]
    if result.grouped:
        other = "sum" if result.aggregate == "mean" else "mean"
        parts.append(
            f"The probability of a category is the {result.aggregate} of the probabilities of its "
            f"classes; the {other} gives other numbers."
        )
    if result.agreeing:
        parts.append(f"The cues of {result.agreeing} agree.")
    if result.unnamed:
        classes = ", ".join(result.missing)
        parts.append(f"{result.unnamed} have a cue that the model does not know ({classes}).")
    if result.unreadable:
        parts.append(f"{result.unreadable} cannot be read.")
    if result.available - result.unreadable > result.conflicts:
        parts.append(f"The {result.conflicts} are a random subset of {result.available}.")
    return " ".join(parts)


def _by_class(results: Results) -> Plot:
    order = _from_texture_to_shape(results)
    half = MAX_ROWS // 2
    shown = order if len(order) <= MAX_ROWS else [*order[:half], *order[-half:]]
    caption = "Points are shape classes with 95 % intervals, solid lines the overall bias."
    if len(shown) < len(order):
        caption += f" Only the {half} classes at either end of {len(order)} are shown."
    references = {}
    if all(result.candidates == tuple(CATEGORIES) for result in results.values()):
        aggregate = next(iter(results.values())).aggregate  # the same for all models
        references = {"humans": HUMANS, "ResNet-50": RESNET50[aggregate]}
        caption += (
            " Dotted lines, on the 1,280 published stimuli: humans (Geirhos et al. 2019), and "
            f"torchvision's ResNet-50 by the {aggregate}."
        )
    return Plot(
        "Shape bias by shape class",
        bias_by_class(shown, results, references),
        caption,
        height=130 + len(shown) * (16 + 8 * len(results)),
    )


def bias_by_class(
    classes: Sequence[str], results: Results, references: Mapping[str, float]
) -> dict[str, Any]:
    """One row per class, from texture to shape, as in the figure of Geirhos et al. (2019).

    Each model has one point per class, and a vertical line at its overall bias; where a bias is
    NaN there is none. `references` are dotted lines.
    """
    figure = go.Figure()
    for index, (name, result) in enumerate(results.items()):
        known = {one.name: one for one in result.classes if not np.isnan(one.bias.value)}
        shown = [known[one] for one in classes if one in known]
        biases = [one.bias.value for one in shown]
        figure.add_scatter(
            x=biases,
            y=[one.name for one in shown],
            name=name,
            mode="markers",
            orientation="h",
            offsetgroup=str(index),
            marker={"color": color(name), "symbol": SYMBOLS[index % len(SYMBOLS)], "size": 9},
            error_x=error_bars(
                biases, [one.bias.low for one in shown], [one.bias.high for one in shown]
            ),
            text=[
                f"{one.shape} for shape, {one.texture} for texture, of {one.conflicts}"
                for one in shown
            ],
            hovertemplate="%{y}: %{x:.0%} (%{text})",
        )
        if not np.isnan(result.bias.value):
            figure.add_vline(x=result.bias.value, line={"color": color(name), "width": 2})
    for name, value in references.items():
        above = {"text": name, "y": 1, "yanchor": "bottom", "xanchor": "center"}
        figure.add_vline(x=value, line={"dash": "dot", "width": 1}, annotation=above)
    figure.update_layout(scattermode="group", scattergap=0.4)
    figure.update_xaxes(
        range=[-0.03, 1.03],
        tickformat=".0%",
        title="← texture · shape bias · shape →",
        zeroline=False,
    )
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=list(classes), autorange="reversed"
    )
    return plain(figure)


def _from_texture_to_shape(results: Results) -> list[str]:
    """The classes by increasing mean bias of the models, those without a bias last."""
    biases: dict[str, list[float]] = {}
    for result in results.values():
        for one in result.classes:
            known = [] if np.isnan(one.bias.value) else [one.bias.value]
            biases.setdefault(one.name, []).extend(known)
    return sorted(biases, key=lambda name: float(np.mean(biases[name])) if biases[name] else 2.0)


def _overall(results: Results) -> Table:
    columns = (
        MODEL,
        *Column.estimate("Shape bias", percent=True, tip="shape / (shape + texture)", of="bias"),
        Column("Coverage", percent=True, tip="(shape + texture) / conflicts"),
        Column("Shape", tip="decisions for the class of the shape"),
        Column("Texture", tip="decisions for the class of the texture"),
        Column("Conflicts", tip="stimuli with shape and texture of different classes"),
        Column("Accuracy, shape label", percent=True, tip="shape / conflicts"),
        Column("Accuracy, texture label", percent=True, tip="texture / conflicts"),
    )
    rows = []
    for name, one in results.items():
        counts = (one.shape, one.texture, one.conflicts)
        accuracies = (one.shape_accuracy.value, one.texture_accuracy.value)
        rows.append((name, *astuple(one.bias), one.coverage.value, *counts, *accuracies))
    return Table("Decisions on conflicts", columns, rows)


def _accuracies(results: Results) -> Plot:
    series = {
        name: Bars.of([one.shape_accuracy, one.texture_accuracy]) for name, one in results.items()
    }
    levels = chance_level(1 / len(one.candidates) for one in results.values())
    return Plot(
        "Accuracy if the shape, or the texture, is the label",
        bars(["shape", "texture"], series, "accuracy on conflicts", levels=levels),
        "The same decisions as shares of all conflicts.",
    )


def _stimuli(results: Results) -> Pictures:
    marks = {"shape": "good", "texture": "bad", "neither": ""}
    rows = []
    for name, result in results.items():
        pictures = []
        for one in result.examples:
            decision = one.decided or "none of the classes"
            text = f"{one.shape} with the texture of {one.texture}: {decision}"
            pictures.append(replace(one.picture, caption=text, mark=marks[one.follows]))
        rows.append((name, tuple(pictures)))
    return Pictures(
        "Examples of stimuli",
        tuple(rows),
        caption="Chosen at random. The predicted class follows the colon. A solid frame with ✓ "
        "means the shape, a dashed frame with ✕ the texture, and no frame another class.",
    )


def _classes(results: Results) -> Table:
    columns = (
        Column("Class"),
        MODEL,
        *Column.estimate("Shape bias", percent=True, of="bias"),
        Column("Coverage", percent=True),
        Column("Shape"),
        Column("Texture"),
        Column("Conflicts"),
    )
    rows = []
    for name, result in results.items():
        for one in result.classes:
            counts = (one.shape, one.texture, one.conflicts)
            rows.append((one.name, name, *astuple(one.bias), one.coverage, *counts))
    return Table("Shape bias by shape class", columns, rows, folded=True)
