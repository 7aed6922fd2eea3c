"""Shape bias on the page: numbers to require, the verdict's clause, what is shown and said."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.measuring.made import arrays, subject_of
from unshortcut.measurements.shape_bias import ShapeBias
from unshortcut.measuring.cue_decisions import (
    ClassBias,
    ShapeBiasResult,
    StimulusExample,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Note, Picture, Pictures, Plot, Table
from unshortcut.measuring.glance import Axis, TellingPicture
from unshortcut.measuring.subjects.class_names import CATEGORIES

SHAPE_BIAS = ShapeBias()


def share(successes: int, n: int) -> Estimate:
    value = successes / n if n else math.nan
    return Estimate(value, value - 0.05, value + 0.05)


def result(shape: int = 24, texture: int = 76, conflicts: int = 150) -> ShapeBiasResult:
    """Decisions on stimuli of the 16 categories; all cats by shape, all dogs by texture."""
    picture = Picture("data:image/png;base64,AA==")
    return ShapeBiasResult(
        bias=share(shape, shape + texture),
        coverage=share(shape + texture, conflicts),
        shape_accuracy=share(shape, conflicts),
        texture_accuracy=share(texture, conflicts),
        shape=shape,
        texture=texture,
        conflicts=conflicts,
        stimuli=conflicts + 10,
        agreeing=10,
        unnamed=0,
        unreadable=0,
        available=conflicts,
        classes=(
            ClassBias("cat", share(shape, shape), 1.0, shape, 0, conflicts // 2),
            ClassBias("dog", share(0, texture), 1.0, 0, texture, conflicts // 2),
            ClassBias("oven", share(0, 0), 0.0, 0, 0, 1),
        ),
        candidates=tuple(CATEGORIES),
        missing=(),
        decides="its own head of 1000 classes",
        grouped=True,
        aggregate="mean",
        examples=(
            StimulusExample("cat", "dog", "cat", "shape", picture),
            StimulusExample("dog", "cat", "cat", "texture", picture),
            StimulusExample("dog", "cat", "", "neither", picture),
        ),
        by_texture=StimulusExample("oven", "cat", "cat", "texture", picture) if texture else None,
    )


def shown(kind: type, *results: ShapeBiasResult) -> list:  # type: ignore[type-arg]
    """Exhibits of one kind, of models a, b, …"""
    found = SHAPE_BIAS.exhibits(dict(zip("abcd", results, strict=False)), None)
    return [one for one in found if isinstance(one, kind)]


def lines(plot: Plot) -> dict[float, str | None]:
    """The vertical lines of a plot, with their style."""
    layout = plot.figure["layout"]
    return {one["x0"]: one["line"].get("dash") for one in layout.get("shapes", ())}


def test_without_stimuli_it_does_not_apply() -> None:
    source = arrays(np.zeros((2, 8, 8, 3), np.uint8), [0, 1], ["a", "b"])
    subject = subject_of(lambda images: images.mean((2, 3))[:, :2], source)
    with pytest.raises(NotApplicable, match="no cue-conflict stimuli"):
        SHAPE_BIAS.measure(subject, lambda done, total: None)


def test_its_numbers_can_be_required_and_have_their_counts() -> None:
    found = SHAPE_BIAS.metrics(result(), None)
    assert tuple(found) == SHAPE_BIAS.gives
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {
            "shape_bias": 0.24,
            "shape_bias_coverage": 100 / 150,
            "conflict_shape_accuracy": 24 / 150,
            "conflict_texture_accuracy": 76 / 150,
        }
    )
    bias = found["shape_bias"]
    assert (bias.low, bias.high) == pytest.approx((0.19, 0.29))
    assert "24 decisions for shape and 76 for texture in 150 conflicts" in bias.note
    assert "by the mean over the classes of a category" in bias.note
    assert found["shape_bias_coverage"].headline


def test_a_bias_of_nothing_has_no_interval() -> None:
    found = SHAPE_BIAS.metrics(result(0, 0), None)["shape_bias"]
    assert math.isnan(found.value) and found.low is None and found.high is None


@pytest.mark.parametrize(
    ("shape", "texture", "text", "weight"),
    [
        (
            24,
            76,
            "decides by texture in 76 % of the 100 conflicts in which it names either cue",
            0.76,
        ),
        (81, 19, "decides by shape in 81 % of the 100 conflicts in which it names", 0.19),
        (9, 12, "names either cue in only 21 of 150 conflicts (19 by guessing), too few", 0.1),
        (0, 0, "names either cue in only 0 of 150 conflicts (19 by guessing)", 0.1),
    ],
)
def test_the_verdict_weighs_texture_and_says_where_there_are_too_few_decisions(
    shape: int, texture: int, text: str, weight: float
) -> None:
    found = SHAPE_BIAS.finding(result(shape, texture))
    assert found.text.startswith(text) and found.weight == pytest.approx(weight)


def test_the_plot_goes_from_texture_to_shape_with_a_line_a_model() -> None:
    (_, plot, _) = shown(Plot, result(), result(81, 19))
    assert plot.figure["layout"]["yaxis"]["categoryarray"] == ["dog", "cat", "oven"]
    first, second = plot.figure["data"]
    assert (first["name"], second["name"]) == ("a", "b")
    assert dict(zip(first["y"], first["x"], strict=True)) == {"cat": 1.0, "dog": 0.0}  # no oven
    assert list(first["error_x"]["array"]) == pytest.approx([0.05, 0.05])
    assert first["text"][0] == "0 for shape, 76 for texture, of 75"
    assert {0.24, 0.81} <= set(lines(plot)) and lines(plot)[0.24] is None


def beside(*results: ShapeBiasResult) -> tuple[Plot, list[str], dict[str, float]]:
    """The plot of all biases, its rows from texture to shape, and its known values."""
    plot = shown(Plot, *results)[0]
    known = plot.figure["data"][0]
    rows = plot.figure["layout"]["yaxis"]["categoryarray"]
    return plot, list(rows), dict(zip(known["y"], known["x"], strict=True))


def test_models_stand_among_known_ones_where_the_16_categories_are_used() -> None:
    plot, rows, known = beside(result(), result(81, 19))
    assert known["ResNet-50"] == pytest.approx(0.2142, abs=1e-4)  # by the mean, as here
    assert rows.index("ResNet-50") < rows.index("a") < rows.index("ViT-B/16, ImageNet-21k")
    assert rows.index("a") < rows.index("b") < rows.index("ViT-22B") < rows.index("humans")
    assert "no better on corrupted images" in plot.caption
    _, _, by_sum = beside(replace(result(), aggregate="sum"))
    assert by_sum["ResNet-50"] == pytest.approx(0.2207, abs=1e-4)
    sources = shown(Table, result())[0]
    assert {row[0] for row in sources.rows} == set(known)
    assert all(row[4] for row in sources.rows)


def test_on_other_stimuli_chance_is_the_only_known_value() -> None:
    _, rows, known = beside(replace(result(), candidates=("cat", "dog", "oven")))
    assert known == {"chance": 0.5} and rows == ["a", "chance"]


def test_at_a_glance_a_model_stands_between_texture_and_shape_among_marks() -> None:
    axis, telling = SHAPE_BIAS.glance({"a": result(), "b": result(1, 3)})
    assert isinstance(axis, Axis) and isinstance(telling, TellingPicture)
    assert (axis.left, axis.right) == ("texture", "shape")
    assert set(axis.positions) == {"a"} and axis.positions["a"] == result().bias
    assert axis.missing == {"b": "recognizes too few stimuli"}
    assert axis.marks[0].name == "humans" and len(axis.marks) == 8
    assert telling.pictures["a"].caption == "oven with the texture of cat: cat"
    other, _ = SHAPE_BIAS.glance({"a": replace(result(), candidates=("cat", "dog"))})
    assert isinstance(other, Axis) and [one.name for one in other.marks] == ["chance"]
    assert SHAPE_BIAS.glance({"a": result(90, 0)})[1].pictures == {}  # type: ignore[union-attr]


def test_the_brief_verdict_does_not_take_sides_where_the_interval_does_not() -> None:
    assert SHAPE_BIAS.finding(result()).brief == "decides mostly by texture"
    assert SHAPE_BIAS.finding(result(81, 19)).brief == "decides mostly by shape"
    assert "as often as by shape" in SHAPE_BIAS.finding(result(48, 52)).brief


def test_of_many_classes_the_plot_has_both_ends() -> None:
    classes = tuple(ClassBias(f"c{n:03}", share(n, 99), 1.0, n, 99 - n, 99) for n in range(100))
    plot = shown(Plot, replace(result(), classes=classes))[1]
    drawn = plot.figure["layout"]["yaxis"]["categoryarray"]
    assert (len(drawn), drawn[0], drawn[15], drawn[16], drawn[-1]) == (
        32,
        "c000",
        "c015",
        "c084",
        "c099",
    )
    assert "Only the 16 classes at either end of 100 are shown." in plot.caption


def test_coverage_and_both_accuracies_stand_beside_the_bias() -> None:
    _, overall, classes = shown(Table, result(), result(81, 19))
    row = dict(zip([column.title for column in overall.columns], overall.rows[0], strict=True))
    assert row["Model"] == "a" and row["Shape bias"] == pytest.approx(0.24)
    assert row["Coverage"] == pytest.approx(2 / 3)
    assert (row["Shape"], row["Texture"], row["Conflicts"]) == (24, 76, 150)
    assert row["Accuracy, shape label"] == pytest.approx(0.16)
    assert len(classes.rows) == 6 and classes.folded
    bars = shown(Plot, result())[2].figure["data"][0]
    assert list(bars["y"]) == pytest.approx([0.16, 76 / 150])


def test_stimuli_are_framed_by_the_cue_that_was_followed() -> None:
    (pictures,) = shown(Pictures, result(), result(81, 19))
    assert [title for title, _ in pictures.rows] == ["a", "b"]
    marks = [(one.mark, one.caption) for one in pictures.rows[0][1]]
    assert marks == [
        ("good", "cat with the texture of dog: cat"),
        ("bad", "dog with the texture of cat: cat"),
        ("", "dog with the texture of cat: none of the classes"),
    ]


def said(*results: ShapeBiasResult) -> list[Note]:
    return shown(Note, *results)


def test_what_decides_and_what_was_left_out_is_said_once_for_models_alike() -> None:
    (note,) = said(result(), result(81, 19))
    assert note.text.startswith("Classified by its own head of 1000 classes, among 16 classes.")
    assert "150 of 160 stimuli are used." in note.text and "The cues of 10 agree." in note.text
    assert "is the mean of the probabilities of its classes" in note.text and not note.warning


def test_each_model_speaks_for_itself_where_they_differ() -> None:
    probe = replace(
        result(),
        decides="a linear probe",
        candidates=("cat", "dog"),
        missing=("oven", "<b>"),
        unnamed=7,
        unreadable=2,
        available=1000,
        grouped=False,
    )
    first, second = said(result(), probe)
    assert first.text.startswith("a: Classified by its own head")
    assert second.text.startswith("b: Classified by a linear probe, among 2 classes.")
    assert "7 have a cue that the model does not know (oven, <b>)." in second.text
    assert "2 cannot be read." in second.text and "probability of a category" not in second.text
    assert "a random subset of 1000" in second.text


def test_a_warning_says_that_little_coverage_says_little() -> None:
    warnings = [note for note in said(result(), result(1, 3)) if note.warning]
    assert [note.text for note in warnings] == [
        "b names either cue in only 4 of 150 conflicts (19 by guessing): "
        "its shape bias is meaningless."
    ]


def test_a_bias_says_something_only_beyond_guessing() -> None:
    assert result(20, 30).meaningful  # coverage 0.33 ± 0.05, guessing 2/16
    assert not result(10, 14).meaningful  # 0.16 ± 0.05
    assert not replace(result(20, 30), candidates=("cat", "dog", "oven")).meaningful  # guessing 2/3
    assert replace(result(70, 80), candidates=("cat", "dog")).meaningful
    assert not result(3, 5, 9).meaningful  # 8 decisions
    assert not replace(result(20, 30, 600), candidates=tuple(map(str, range(900)))).meaningful
