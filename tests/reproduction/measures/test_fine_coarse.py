"""Fine and coarse accuracy of an encoder whose decisions are planted, counted by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import timm.data

from tests.measuring.made import arrays
from tests.measuring.planted import SIDE, deciding
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.fine_coarse import DOGS, FineCoarseMeasure

BREEDS = ("n02085620", "n02091831", "n02113978")
OTHERS = ("n02119022", "n04111531")  # a fox, a stove
CLASSES = (*BREEDS, *OTHERS)


def labeled(decisions: Sequence[int], labels: Sequence[int], classes: Sequence[str]) -> ImageSource:
    return arrays(deciding(decisions, len(classes)), labels, classes)


def evaluation_of(
    decisions: Sequence[int], labels: Sequence[int], classes: Sequence[str] = CLASSES, **given: Any
) -> Evaluation:
    everything = list(range(len(classes))) * 4
    train = labeled(everything, everything, classes)
    test = labeled(decisions, labels, classes)
    return Evaluation(train, {"test": test, "texture": test}, **given)


@pytest.fixture(autouse=True)
def _encoder_that_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Preprocessing(size=SIDE, crop_share=1.0, mean=(0.0,) * 3, std=(1.0,) * 3)  # type: ignore[arg-type]
    model = LoadedModel("reads", seen, lambda images: images[:, 0, 0], None)
    monkeypatch.setattr("unshortcut.reproduction.subjects.load_model", lambda run: model)


def test_a_dog_is_right_in_the_coarse_sense_if_any_breed_is_predicted() -> None:
    # Of five dogs two are right, two are taken for another breed and one for a fox.
    evaluation = evaluation_of([0, 1, 2, 0, 3, 0, 4], [0, 1, 0, 2, 2, 3, 4])
    found = FineCoarseMeasure().compute(Path("run"), evaluation)
    assert found == pytest.approx({"dogs_fine": 40, "dogs_coarse": 80, "dogs_gap": 40})
    assert FineCoarseMeasure().notes(evaluation) == ()


def test_a_hierarchy_is_measured_on_all_its_images_next_to_the_dogs(tmp_path: Path) -> None:
    path = tmp_path / "kinds.csv"
    path.write_text("\n".join(f"{name},animal" for name in (*BREEDS, OTHERS[0])))
    evaluation = evaluation_of(
        [0, 1, 2, 0, 3, 0, 4], [0, 1, 0, 2, 2, 3, 4], hierarchy_file=str(path)
    )
    found = FineCoarseMeasure().compute(Path("run"), evaluation)
    assert found["dogs_coarse"] == pytest.approx(80)
    assert (found["fine"], found["coarse"]) == pytest.approx((200 / 6, 100))
    assert found["gap"] == pytest.approx(400 / 6)


@pytest.mark.parametrize(
    "classes", [("beagle", "pug", "American Bulldog", "Sphynx"), ("tench", "beagle", "chain saw")]
)
def test_other_data_are_not_measured_and_told_so(classes: tuple[str, ...]) -> None:
    """Among classes that are not ImageNet's, other breeds might be taken for no dogs."""
    evaluation = evaluation_of([0, 1], [0, 1], classes)
    (note,) = FineCoarseMeasure().notes(evaluation)
    assert "not measured" in note and "--hierarchy" in note
    assert FineCoarseMeasure().dependencies(evaluation) == {}
    assert FineCoarseMeasure().compute(Path("nowhere"), evaluation) == {}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("rose,flower\ntulip,flower", "none of the classes of the data"),
        ("\n".join(f"{name},thing" for name in CLASSES), "belong to 'thing'"),
        ("one column", "expected two columns"),
    ],
)
def test_a_hierarchy_that_cannot_be_used_is_refused_before_anything_is_trained(
    lines: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "kinds.csv"
    path.write_text(lines)
    with pytest.raises(UsageError, match=message):
        FineCoarseMeasure().dependencies(evaluation_of([0], [0], hierarchy_file=path))


def test_the_dogs_of_imagenet_are_those_that_wordnet_calls_so() -> None:
    """Breeds come in one block, which neighboring animals enclose."""
    info = timm.data.ImageNetInfo("imagenet-1k")
    ends = [info.index_to_description(at) for at in (DOGS[0] - 1, DOGS[0], DOGS[-1], DOGS[-1] + 1)]
    assert ends[0] == "sea lion" and ends[1] == "Chihuahua" and ends[2] == "Mexican hairless"
    assert ends[3].startswith("timber wolf") and len(DOGS) == 118
