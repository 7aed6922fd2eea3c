"""Shape bias: whether a model decides by shape or by texture when the two cues conflict."""

from collections.abc import Mapping
from dataclasses import astuple, replace
from functools import partial

import numpy as np

from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.cue_decisions import ShapeBiasResult, StimulusExample, decide, num_stimuli
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    Table,
)
from unshortcut.measuring.glance import Axis, AxisMark, GlancePart, TellingPicture
from unshortcut.measuring.known_values import KnownShapeBias, comparable_shape_biases
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars, chance_level
from unshortcut.measuring.shape_bias_plots import bias_by_class, biases_beside
from unshortcut.measuring.subjects.class_names import CATEGORIES
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

CHANCE = 0.5
"""Shape bias of random decisions."""
MAX_ROWS = 32
"""Limit on the classes in the plot."""
NOT_ROBUSTNESS = (
    "Shape bias is not robustness: a ResNet-50 trained on stylized images alone decides by shape "
    "and is no better on corrupted images (Geirhos et al. 2019), and networks show no clear "
    "correlation of the two (Mummadi et al. 2021)."
)

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
    version = 2
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
            *_beside(results),
            _by_class(results),
            _overall(results),
            _accuracies(results),
            _stimuli(results),
            _classes(results),
        ]

    def glance(self, results: Results) -> list[GlancePart]:
        clear = {name: one.bias for name, one in results.items() if one.meaningful}
        pictures = {
            name: _picture(one.by_texture) for name, one in results.items() if one.by_texture
        }
        return [
            Axis(
                "texture",
                "shape",
                "decisions by shape where the two conflict",
                clear,
                {name: "recognizes too few stimuli" for name in results if name not in clear},
                tuple(AxisMark(one.label, one.bias) for one in _known(results))
                or (AxisMark("chance", CHANCE),),
            ),
            TellingPicture("decided by texture", pictures, "no conflict decided by texture"),
        ]

    def finding(self, result: ShapeBiasResult) -> Finding:
        if not result.meaningful:
            brief = "recognizes too few conflict stimuli to say whether shape or texture decides"
            return Finding(f"{result.low_coverage}, too few to measure its shape bias", 0.1, brief)
        texture = 1 - result.bias.value
        cue, share = ("texture", texture) if texture > 0.5 else ("shape", result.bias.value)
        named = f"of the {result.shape + result.texture} conflicts in which it names either cue"
        brief = f"decides mostly by {cue}"
        if result.bias.low <= CHANCE <= result.bias.high:
            brief = "decides by texture about as often as by shape"
        return Finding(f"decides by {cue} in {percent(share)} {named}", texture, brief)


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


def _known(results: Results) -> tuple[KnownShapeBias, ...]:
    """Known values on the same classes; none if these are not the 16 published categories."""
    if not results or any(one.candidates != tuple(CATEGORIES) for one in results.values()):
        return ()
    return comparable_shape_biases(next(iter(results.values())).aggregate)  # the same for all


def _beside(results: Results) -> list[Exhibit]:
    """The models among known ones, or beside chance on stimuli that nobody else has used."""
    known = _known(results)
    rows = {one.name: one.bias for one in known} or {"chance": CHANCE}
    height = 110 + 26 * (len(rows) + len(results))
    if not known:
        caption = f"With 95 % intervals. {NOT_ROBUSTNESS}"
        return [Plot("Beside chance", biases_beside(rows, results), caption, height=height)]
    caption = f"With 95 % intervals; known values are from all 1,280 stimuli. {NOT_ROBUSTNESS}"
    columns = (
        Column("Known"),
        Column("Shape bias", percent=True),
        Column("Coverage", percent=True, tip="share of conflicts decided by either cue"),
        Column("Classes combined by", tip="how the probabilities of a category are computed"),
        Column("Source"),
    )
    table = [(one.name, one.bias, one.coverage, one.aggregate or None, one.source) for one in known]
    return [
        Plot("Beside known ones", biases_beside(rows, results), caption, height=height),
        Table("Where the known values come from", columns, table, folded=True),
    ]


def _by_class(results: Results) -> Plot:
    order = _from_texture_to_shape(results)
    half = MAX_ROWS // 2
    shown = order if len(order) <= MAX_ROWS else [*order[:half], *order[-half:]]
    caption = "Points are shape classes with 95 % intervals, solid lines the overall bias."
    if len(shown) < len(order):
        caption += f" Only the {half} classes at either end of {len(order)} are shown."
    return Plot(
        "Shape bias by shape class",
        bias_by_class(shown, results),
        caption,
        height=130 + len(shown) * (16 + 8 * len(results)),
    )


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
    rows = tuple(
        (name, tuple(_picture(one) for one in result.examples)) for name, result in results.items()
    )
    return Pictures(
        "Examples of stimuli",
        rows,
        caption="Chosen at random. The predicted class follows the colon. A solid frame with ✓ "
        "means the shape, a dashed frame with ✕ the texture, and no frame another class.",
    )


def _picture(one: StimulusExample) -> Picture:
    decision = one.decided or "none of the classes"
    text = f"{one.shape} with the texture of {one.texture}: {decision}"
    mark = {"shape": "good", "texture": "bad", "neither": ""}[one.follows]
    return replace(one.picture, caption=text, mark=mark)


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
