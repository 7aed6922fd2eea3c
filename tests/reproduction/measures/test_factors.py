"""What factors tell: an encoder that knows one thing of an image, and no other."""

from pathlib import Path

import pytest

from tests.reproduction.measures.oracles import EVALUATION, knows_color, knows_turn, model_of
from unshortcut.data.shapes import Shapes
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.tasks import FactorsMeasure


@pytest.mark.parametrize(
    ("knows", "known", "unknown"),
    [(knows_color, "color", "rotation"), (knows_turn, "rotation", "color")],
)
def test_a_factor_is_told_by_an_encoder_that_knows_it_and_by_no_other(
    knows: object, known: str, unknown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = model_of(knows)  # type: ignore[arg-type]
    monkeypatch.setattr("unshortcut.models.load.load_model", lambda run: oracle)
    found = FactorsMeasure(seeds=1).compute(Path("nowhere"), EVALUATION)
    assert set(found) == {"rotation", "color", "position"}
    assert found[known] == 100
    assert found[unknown] < 40 and found["position"] < 40


def test_photographs_have_a_turn_and_no_other_factor(tmp_path: Path) -> None:
    from PIL import Image

    for split in ("train", "val"):
        for index in range(2):
            path = tmp_path / split / f"class{index}" / "one.png"
            path.parent.mkdir(parents=True)
            Image.fromarray(Shapes("train", size=24).image(index).pixels()).save(path)
    (task,) = FactorsMeasure().dependencies(Evaluation(str(tmp_path)))["tasks"]
    assert task["kind"] == "rotation" and list(task["tests"]) == ["rotation"]


def test_other_test_images_are_another_measurement() -> None:
    tests = {**EVALUATION.more_tests, "test": Shapes("test", size=24, count=121)}
    other = Evaluation(EVALUATION.data, tests)
    assert FactorsMeasure().dependencies(EVALUATION) == FactorsMeasure().dependencies(EVALUATION)
    assert FactorsMeasure().dependencies(EVALUATION) != FactorsMeasure().dependencies(other)
