"""Textures that were never seen: encoders that know the shape, the texture, or what they saw."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from tests.data.images import write_tree
from tests.reproduction.measures.oracles import EVALUATION, PREPROCESSING, SIZE, SOURCES
from unshortcut.data.shapes import Shapes
from unshortcut.models.load import LoadedModel
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.unseen_textures import UnseenTexturesMeasure, unseen_tasks

COUNTS = {"paired": len(SOURCES[0]), "paired-test": len(SOURCES[1]), "unseen": len(SOURCES[1])}
FACTORS = {
    source.image(index).pixels().tobytes(): (
        int(source.shape_labels[index]),
        int(source.texture_labels[index]),
    )
    for source in (Shapes(split, size=SIZE, count=count) for split, count in COUNTS.items())
    for index in range(len(source))
}
"""Shape and texture of every image, by its pixels."""


def oracle(known: Callable[[int, int], int]) -> LoadedModel:
    """An encoder whose feature is one number of an image, from its shape and its texture."""

    def features(images: Tensor) -> Tensor:
        pixels = (images * 255).round().byte().permute(0, 2, 3, 1).contiguous().numpy()
        return one_hot(torch.tensor([known(*FACTORS[one.tobytes()]) for one in pixels]), 16).float()

    return LoadedModel("oracle", PREPROCESSING, features, None)


@pytest.mark.parametrize(
    ("known", "paired", "unseen"),
    [
        (lambda shape, texture: shape, (100, 100), (100, 100)),
        (lambda shape, texture: texture, (5, 20), (5, 20)),
        # It recognizes a shape if it knows the texture, and else only that it does not.
        (lambda shape, texture: shape if texture < 8 else 15, (100, 100), (12, 13)),
    ],
)
def test_who_reads_shape_is_right_and_who_reads_texture_is_at_chance(
    known: Callable[[int, int], int],
    paired: tuple[float, float],
    unseen: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("unshortcut.models.load.load_model", lambda run: oracle(known))
    found = UnseenTexturesMeasure(seeds=1).compute(Path("nowhere"), EVALUATION)
    assert set(found) == {"paired", "unseen"}
    assert paired[0] <= found["paired"] <= paired[1]
    assert unseen[0] <= found["unseen"] <= unseen[1]


def test_there_are_as_many_images_as_in_the_data_and_they_are_drawn_alike() -> None:
    train = Shapes("train", size=24, count=40, seed=3, palette=True)
    (task,) = unseen_tasks(Evaluation(train, {"test": Shapes("test", size=24, count=16)}))
    assert (len(task.train), *map(len, task.tests.values())) == (40, 16, 16)
    for source in (task.train, *task.tests.values()):
        assert isinstance(source, Shapes) and source.palette and source.seed == 3


def test_other_images_are_another_measurement() -> None:
    measure, other = UnseenTexturesMeasure(), Shapes("train", size=SIZE, count=240, seed=1)
    changed = Evaluation(other, EVALUATION.more_tests)
    assert measure.dependencies(EVALUATION) == measure.dependencies(EVALUATION)
    assert measure.dependencies(EVALUATION) != measure.dependencies(changed)


def test_photographs_are_told_how_to_measure_it(tmp_path: Path) -> None:
    write_tree(tmp_path, ["a/1.png", "b/1.png"])
    photos = str(tmp_path)
    tests = {"test": photos, "texture": photos}
    plain = Evaluation(photos, tests)
    given = Evaluation(photos, tests, {"unseen": (photos, photos)})
    (note,) = UnseenTexturesMeasure().notes(plain)
    assert "--transfer unseen=TRAIN:TEST" in note
    assert UnseenTexturesMeasure().notes(given) == UnseenTexturesMeasure().notes(EVALUATION) == ()
    assert UnseenTexturesMeasure().compute(Path("nowhere"), plain) == {}
