"""Decisions on conflict stimuli: of models whose decisions are known, and by the definition."""

import math
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from tests.measuring.painted_cues import SIDE, Reads, paint
from tests.real_data import real_data
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.cue_decisions import EXAMPLES, ShapeBiasResult, decide
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.class_names import Aggregate, categories
from unshortcut.measuring.subjects.classifier import Classifier, fit_classifier, head
from unshortcut.measuring.subjects.conflict import open_conflict
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import LoadedModel

CLASSES = ("elm", "fir", "oak", "yew")
CUES = [("elm", "fir"), ("elm", "oak"), ("fir", "oak"), ("yew", "yew"), ("oak", "elm")]
OBEYED = ["elm", "oak", "yew", "yew", "oak"]  # shape, texture, neither, (agree), shape


def subject(folder: Path, column: int, cues: list[tuple[str, str]] = CUES) -> Subject:
    """A model that reads one pixel of stimuli."""
    conflict = open_conflict(paint(folder, CLASSES, cues, OBEYED[: len(cues)]))
    data = arrays(np.zeros((4, SIDE, SIDE, 3), np.uint8), range(4), CLASSES)
    return replace(subject_of(Reads(column, 4), data), conflict=conflict)


def decided(one: Subject) -> ShapeBiasResult:
    assert one.conflict is not None
    return decide(one, one.conflict)


def neighbors(one: Subject) -> Classifier:
    """A readout that knows the features of all four classes."""
    labels = np.arange(40) % 4
    rows = np.eye(4, dtype=np.float32)[labels]
    features = Features(rows, labels, CLASSES, np.arange(40))
    return fit_classifier("knn", features, one.data, "trees@train", None, "mean")


@pytest.mark.parametrize(
    ("column", "shape", "texture", "bias"), [(0, 4, 0, 1.0), (1, 0, 4, 0.0), (2, 2, 1, 2 / 3)]
)
def test_a_model_that_reads_one_cue_is_found_out(
    tmp_path: Path, column: int, shape: int, texture: int, bias: float
) -> None:
    found = decided(subject(tmp_path, column))
    assert (found.shape, found.texture, found.conflicts) == (shape, texture, 4)
    assert (found.stimuli, found.agreeing, found.unnamed, found.available) == (5, 1, 0, 4)
    assert found.bias.value == pytest.approx(bias)
    assert found.bias.low <= bias <= found.bias.high and found.bias.low < found.bias.high
    assert found.coverage.value == pytest.approx((shape + texture) / 4)
    assert found.shape_accuracy.value == pytest.approx(shape / 4)
    assert found.texture_accuracy.value == pytest.approx(texture / 4)
    assert found.decides == "its own head of 4 classes" and not found.grouped


def test_each_class_of_shape_has_its_own_bias(tmp_path: Path) -> None:
    found = {one.name: one for one in decided(subject(tmp_path, 2)).classes}
    assert set(found) == {"elm", "fir", "oak"}
    elm, fir = found["elm"], found["fir"]
    assert (elm.shape, elm.texture, elm.conflicts, elm.coverage) == (1, 1, 2, 1.0)
    assert elm.bias.value == 0.5 and elm.bias.low < 0.1 and elm.bias.high > 0.9
    assert (fir.shape, fir.texture, fir.conflicts, fir.coverage) == (0, 0, 1, 0.0)
    assert math.isnan(fir.bias.value) and math.isnan(fir.bias.low)


def test_examples_show_the_stimulus_and_the_cue_that_was_followed(tmp_path: Path) -> None:
    found = decided(subject(tmp_path, 2))
    shown = {(one.shape, one.texture): (one.decided, one.follows) for one in found.examples}
    assert shown == {
        ("elm", "fir"): ("elm", "shape"),
        ("elm", "oak"): ("oak", "texture"),
        ("fir", "oak"): ("yew", "neither"),
        ("oak", "elm"): ("oak", "shape"),
    }
    assert all(one.picture.source.startswith("data:image/png") for one in found.examples)


def test_models_are_shown_on_the_same_examples(tmp_path: Path) -> None:
    cues = [(shape, texture) for shape in CLASSES for texture in CLASSES if shape != texture]
    conflict = open_conflict(paint(tmp_path, CLASSES, cues * 2, [shape for shape, _ in cues * 2]))
    data = arrays(np.zeros((4, SIDE, SIDE, 3), np.uint8), range(4), CLASSES)
    models = [replace(subject_of(Reads(column, 4), data), conflict=conflict) for column in (0, 1)]
    first, second = (decided(one).examples for one in models)
    assert len(first) == EXAMPLES and {one.shape for one in first} == set(CLASSES)
    assert [one.picture for one in first] == [one.picture for one in second]
    assert {one.follows for one in first} == {"shape"}
    assert {one.follows for one in second} == {"texture"}


def test_the_result_comes_back_from_json(tmp_path: Path) -> None:
    found = decided(subject(tmp_path, 0))
    assert from_json(ShapeBiasResult, to_json(found)) == found


def test_stimuli_with_a_cue_that_the_model_cannot_name_are_left_out(tmp_path: Path) -> None:
    conflict = open_conflict(paint(tmp_path, CLASSES, CUES, OBEYED))
    data = arrays(np.zeros((3, SIDE, SIDE, 3), np.uint8), range(3), (*CLASSES[:2], "ash"))

    def reads_the_shape(images: Tensor) -> Tensor:
        return Reads(0, 4)(images)[:, :3]

    found = decided(replace(subject_of(reads_the_shape, data), conflict=conflict))
    assert found.candidates == ("elm", "fir") and found.missing == ("oak", "yew")
    assert (found.stimuli, found.agreeing, found.unnamed) == (5, 1, 3)
    assert (found.shape, found.texture, found.conflicts) == (1, 0, 1)


def test_a_readout_decides_where_there_is_no_head_and_says_so(tmp_path: Path) -> None:
    one = subject(tmp_path, 1)
    found = decided(replace(one, classifier=neighbors(one)))
    assert (found.shape, found.texture) == (0, 4)
    assert "40 labeled images of trees@train" in found.decides


def test_neighbors_of_other_classes_are_a_decision_for_none(tmp_path: Path) -> None:
    one = subject(tmp_path, 2, [("elm", "fir"), ("fir", "elm"), ("fir", "elm")])
    # The third pixel tells elm, oak, yew; the stimuli are of elm and fir.
    found = decided(replace(one, classifier=neighbors(one)))
    assert found.candidates == ("elm", "fir")
    assert (found.shape, found.texture, found.conflicts) == (1, 0, 3)
    assert sorted(example.decided for example in found.examples) == ["", "", "elm"]


@pytest.mark.parametrize("aggregate", ["mean", "sum"])
def test_an_imagenet_head_decides_by_the_definition(tmp_path: Path, aggregate: Aggregate) -> None:
    names = list(categories())
    random = np.random.default_rng(1)
    cues = [tuple(names[index] for index in random.integers(0, 6, 2)) for _ in range(200)]
    conflict = open_conflict(paint(tmp_path, names, cues, [shape for shape, _ in cues]))
    weights = torch.from_numpy(random.normal(0, 3, (48, 1000))).float()

    def logits(images: Tensor) -> Tensor:
        cue = [(images[:, 0, 0, column] * 25.5).round().long() for column in (0, 1)]
        return weights[cue[0]] + weights[16 + cue[1]]

    model = LoadedModel(
        "random", Preprocessing(size=SIDE, mean=(0, 0, 0), std=(1, 1, 1)), logits, None, logits
    )
    classifier = head(model, None, aggregate)
    settings = Settings(aggregate=aggregate)
    found = decide(Subject("random", model, conflict.source, classifier, settings), conflict)

    shape = texture = conflicts = 0
    for first, second in cues:
        if first == second:
            continue
        row = (weights[names.index(first)] + weights[16 + names.index(second)]).tolist()
        exponentials = [math.exp(value) for value in row]
        likely = {}
        for name, members in categories().items():
            together = sum(exponentials[member] for member in members) / sum(exponentials)
            likely[name] = together / len(members) if aggregate == "mean" else together
        decision = max(likely, key=likely.__getitem__)
        conflicts += 1
        shape += decision == first
        texture += decision == second
    assert (found.shape, found.texture, found.conflicts) == (shape, texture, conflicts)
    assert found.candidates == tuple(names) and found.missing == ()
    assert found.grouped and found.aggregate == aggregate
    assert shape + texture > 0  # the case is no empty one


def test_a_stimulus_of_the_model_s_size_is_neither_resized_nor_cropped() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3), dtype=np.uint8)
    source = arrays(pixels, [0, 1], ["a", "b"])
    one = subject_of(lambda images: images.mean((2, 3))[:, :2], source)
    usual = Preprocessing(size=224, crop_share=0.875)
    one = replace(one, model=replace(one.model, preprocessing=usual))
    seen = one.prepare(source, whole=True)
    np.testing.assert_array_equal(np.stack([seen.pixels(row) for row in range(2)]), pixels)
    assert not np.array_equal(one.prepare(source).pixels(0), pixels[0])  # the usual view crops


def test_published_stimuli_reach_a_model_of_their_size_untouched() -> None:
    path = real_data("cue-conflict.tar")
    source = open_data(path)
    one = subject_of(lambda images: images.flatten(1)[:, :16], source)
    one = replace(one, model=replace(one.model, preprocessing=Preprocessing(size=224)))
    seen = one.prepare(source, 8, whole=True)
    with tarfile.open(path) as archive:
        for row in range(8):
            file = archive.extractfile(seen.identity(row))
            assert file is not None
            with Image.open(file) as image:
                np.testing.assert_array_equal(seen.pixels(row), np.asarray(image.convert("RGB")))


def test_what_cannot_be_decided_does_not_apply(tmp_path: Path) -> None:
    agreeing = subject(tmp_path / "agreeing", 0, [("elm", "elm"), ("fir", "fir")])
    with pytest.raises(NotApplicable, match=r"none of the 2 stimuli .* 2 have cues that agree"):
        decided(agreeing)
    with pytest.raises(NotApplicable, match="no classification head"):
        decided(replace(subject(tmp_path / "headless", 0), classifier=None))


def test_unreadable_stimuli_are_counted_and_refused_where_nothing_is_left(tmp_path: Path) -> None:
    one = subject(tmp_path, 0)
    broken = sorted(tmp_path.rglob("elm*-*.png"))
    broken[0].write_bytes(b"no image")
    with pytest.warns(UserWarning, match="1 of 5 images cannot be read"):
        found = decided(replace(one, conflict=open_conflict(tmp_path)))
    assert (found.unreadable, found.conflicts, found.available) == (1, 3, 4)
    for path in tmp_path.rglob("*.png"):
        if not path.name.startswith("yew3"):
            path.write_bytes(b"no image")
    with (
        pytest.warns(UserWarning),
        pytest.raises(UsageError, match="no stimulus with conflicting cues"),
    ):
        decided(replace(one, conflict=open_conflict(tmp_path)))
