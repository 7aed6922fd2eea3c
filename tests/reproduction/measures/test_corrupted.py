"""Accuracy under corruptions of an encoder that stands them up to a severity."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from tests.reproduction.measures.oracles import EVALUATION, PREPROCESSING, SIZE, SOURCES
from unshortcut.data.shapes import Shapes
from unshortcut.data.shapes.source import corruption_of
from unshortcut.models.load import LoadedModel
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.corrupted import CorruptedMeasure

CORRUPTED = Shapes("corrupted", size=SIZE, count=len(SOURCES[1]))


def test_it_is_the_share_of_corrupted_images_that_are_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {
        source.image(index).pixels().tobytes(): int(source.shape_labels[index])
        for source in (SOURCES[0], CORRUPTED)
        for index in range(len(source))
        if source is not CORRUPTED or corruption_of(index)[1] <= 3
    }

    def features(images: Tensor) -> Tensor:
        """The class of clean images and mild corruptions; of the others, one that is no class."""
        pixels = (images * 255).round().byte().permute(0, 2, 3, 1).contiguous().numpy()
        return one_hot(torch.tensor([known.get(one.tobytes(), 8) for one in pixels]), 9).float()

    model = LoadedModel("oracle", PREPROCESSING, features, None)
    monkeypatch.setattr("unshortcut.models.load.load_model", lambda run: model)
    found = CorruptedMeasure(seeds=1).compute(Path("nowhere"), EVALUATION)
    mild = [corruption_of(index)[1] <= 3 for index in range(len(CORRUPTED))]
    # All images that it does not know get the same class, which is right for one in eight.
    share = sum(mild) / len(mild)
    assert set(found) == {"corrupted"}
    assert found["corrupted"] == pytest.approx(100 * (share + (1 - share) / 8), abs=3)


def test_a_test_set_of_that_name_takes_its_place() -> None:
    given = Evaluation(EVALUATION.data, {**EVALUATION.more_tests, "corrupted": CORRUPTED})
    assert CorruptedMeasure().compute(Path("nowhere"), given) == {}
    assert CorruptedMeasure().dependencies(EVALUATION) != CorruptedMeasure().dependencies(given)
