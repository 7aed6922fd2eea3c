"""Shape bias on stimuli that the user names: of encoders that read one cue, and of real images."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.measuring.made import arrays
from tests.measuring.painted_cues import SIDE, STEP, Reads, paint
from tests.real_data import real_data
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.subjects.conflict import open_conflict
from unshortcut.models.load import LoadedModel
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.cue_conflict import CueConflictMeasure

CLASSES = ("bird", "cat", "dog", "truck")
CUES = [("bird", "cat"), ("cat", "dog"), ("dog", "truck"), ("truck", "bird"), ("cat", "cat")]
OBEYED = ["bird", "cat", "truck", "cat", "cat"]  # shape, shape, texture, neither; the last agrees
OF_IMAGENET_100 = {
    "n01558993": "bird", "n02123045": "cat", "n04099969": "chair", "n02091831": "dog",
    "n03085013": "keyboard", "n04111531": "oven", "n03930630": "truck",
    "n02085620": "",  # a dog that is in none of the categories
    "n02701002": "",  # an ambulance
}  # fmt: skip
"""Some classes of ImageNet-100, one for each category that it has classes of."""


def training_images(classes: Sequence[str], each: int = 5, side: int = SIDE) -> ImageSource:
    """Images on which all that a reader may look at tells the class."""
    labels = np.repeat(np.arange(len(classes)), each)
    pixels = np.zeros((len(labels), side, side, 3), np.uint8)
    pixels[:, 0, :3] = (STEP * labels)[:, None, None]
    return arrays(pixels, labels, classes)


def evaluation_of(stimuli: Path | None, classes: Sequence[str] = CLASSES) -> Evaluation:
    images = training_images(classes)
    tests = {"test": images, "texture": images}
    return Evaluation(images, tests, conflict_data=stimuli)  # type: ignore[arg-type]


def encoder(features: object, side: int = SIDE) -> LoadedModel:
    seen = Preprocessing(size=side, crop_share=1.0, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    return LoadedModel("encoder", seen, features, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "bias", "coverage", "shape", "texture"),
    [(0, 100, 100, 100, 0), (1, 0, 100, 0, 100), (2, 200 / 3, 75, 50, 25)],
)
def test_the_bias_is_that_of_the_cue_that_the_encoder_reads(
    column: int, bias: float, coverage: float, shape: float, texture: float,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    model = encoder(Reads(column, len(CLASSES)))
    monkeypatch.setattr("unshortcut.reproduction.subjects.load_model", lambda run: model)
    evaluation = evaluation_of(paint(tmp_path, CLASSES, CUES, OBEYED))
    found = CueConflictMeasure().compute(Path("run"), evaluation)
    assert found == pytest.approx(
        {
            "shape_bias": bias,
            "conflict_coverage": coverage,
            "conflict_shape": shape,
            "conflict_texture": texture,
        }
    )


def test_categories_that_the_data_lack_are_left_out_and_told(tmp_path: Path) -> None:
    stimuli = paint(tmp_path, CLASSES, CUES, OBEYED)
    (note,) = CueConflictMeasure().notes(evaluation_of(stimuli, ("bird", "cat", "dog", "lamp")))
    assert "2 of 5 stimuli" in note and "3 of the 16 categories (bird, cat, dog)" in note
    assert note.endswith("Random decisions would cover 67 %.")


def test_without_stimuli_the_missing_columns_are_told_and_nothing_is_measured() -> None:
    evaluation = evaluation_of(None)
    (note,) = CueConflictMeasure().notes(evaluation)
    assert "not measured" in note and "--conflict" in note
    assert CueConflictMeasure().dependencies(evaluation) == {}
    assert CueConflictMeasure().compute(Path("nowhere"), evaluation) == {}


def test_other_stimuli_are_another_measurement(tmp_path: Path) -> None:
    one = paint(tmp_path / "one", CLASSES, CUES, OBEYED)
    other = paint(tmp_path / "other", CLASSES, CUES[:3], OBEYED[:3])
    measure = CueConflictMeasure()
    found = [measure.dependencies(evaluation_of(folder)) for folder in (one, one, other)]
    assert found[0] == found[1] != found[2]


def test_stimuli_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    stimuli = paint(tmp_path, CLASSES, CUES, OBEYED)
    with pytest.raises(UsageError, match="no stimulus has two different cues"):
        CueConflictMeasure().dependencies(evaluation_of(stimuli, ("lamp", "dog", "sofa")))
    shapes = Evaluation(Shapes("train", size=24, count=16), conflict_data=stimuli)
    with pytest.raises(UsageError, match="--conflict is for other data"):
        CueConflictMeasure().dependencies(shapes)
    assert CueConflictMeasure().notes(Evaluation(Shapes("train", size=24, count=16))) == ()


@pytest.mark.parametrize(("cue", "bias"), [("shape", 100), ("texture", 0)])
def test_published_stimuli_are_decided_among_the_categories_of_imagenet_100(
    cue: str, bias: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    stimuli = real_data("cue-conflict.tar")
    ids = list(OF_IMAGENET_100)
    names = [OF_IMAGENET_100[one] for one in ids]
    conflict = open_conflict(stimuli)
    told = conflict.shapes if cue == "shape" else conflict.textures
    answers = {}
    for index, at in enumerate(told.tolist()):
        if conflict.classes[at] in names:
            pixels = conflict.source.image(index).pixels()
            answers[pixels[::16, ::16].tobytes()] = names.index(conflict.classes[at])

    def features(images: Tensor) -> Tensor:
        """A stimulus is known by its pixels, and a training image tells its class."""
        shown = (images * 255).round().byte().permute(0, 2, 3, 1).contiguous().numpy()
        classes = [answers.get(x[::16, ::16].tobytes(), x[0, 0, 0] // STEP) for x in shown]
        return torch.eye(len(ids))[torch.tensor(classes).clamp(max=len(ids) - 1).long()]

    model = encoder(features, 224)
    monkeypatch.setattr("unshortcut.reproduction.subjects.load_model", lambda run: model)
    images = training_images(ids, each=3, side=224)
    tests: dict[str, ImageSource] = {"test": images, "texture": images}
    evaluation = Evaluation(images, tests, conflict_data=stimuli)  # type: ignore[arg-type]
    (note,) = CueConflictMeasure().notes(evaluation)
    assert "7 of the 16 categories (bird, cat, chair, dog, keyboard, oven, truck)" in note
    pairs = zip(conflict.shapes.tolist(), conflict.textures.tolist(), strict=True)
    known = [{conflict.classes[one] for one in pair} for pair in pairs]
    assert f" {sum(len(one) == 2 and one <= set(names) for one in known)} of 373 stimuli" in note
    found = CueConflictMeasure().compute(Path("run"), evaluation)
    assert found["shape_bias"] == bias and found["conflict_coverage"] == 100
