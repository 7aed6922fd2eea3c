"""Norms of objects and scenes, of a model whose features are mean colors."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.measurements.painted_scenes import COLORS, Painted, painted_subject
from unshortcut.measurements.scene_norm import SceneNorm, SceneNormResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note, Pictures, Plot, Table
from unshortcut.measuring.norms import by_objects, several_labels
from unshortcut.measuring.subjects.subject import Subject

SCENES = [("red",), ("green", "green"), ("red", "blue", "red"), ("blue",) * 5]


def measured(subject: Subject) -> SceneNormResult:
    return SceneNorm().measure(subject, lambda done, total: None)


@pytest.fixture(scope="module")
def result() -> SceneNormResult:
    return measured(painted_subject(Painted(SCENES)))


def test_norms_of_objects_and_scenes_are_those_of_their_cutouts(result: SceneNormResult) -> None:
    assert result.objects is not None
    groups = {group.name: group for group in result.objects.groups}
    assert {name: group.count for name, group in groups.items()} == {
        "1 object": 4,
        "2": 1,
        "3": 1,
        "5": 1,
    }
    # An object fills its box; two squares beside each other fill 12 of the 22 columns around them.
    assert groups["1 object"].mean.value == pytest.approx(1.0)
    assert groups["2"].mean.value == pytest.approx(12 / 22, abs=0.02)
    assert result.objects.correlation.ball.value < -0.5, "here, scenes have smaller norms"


def test_the_ends_are_the_smallest_and_largest_norms(
    result: SceneNormResult,
) -> None:
    captions = [float(one.caption) for one in result.smallest]
    assert captions == sorted(captions) and len(captions) == 4
    assert [one.caption for one in result.largest] == [x.caption for x in result.smallest][::-1]
    assert captions[0] == pytest.approx(36 / 24**2, abs=0.01), "one square of the image"


def test_several_labels_are_told_by_the_norm_of_the_whole_image() -> None:
    source = Painted([("red",), ("blue",), ("red", "green"), ("red", "green", "blue")])
    result = measured(painted_subject(source))
    assert result.labels is not None
    assert (result.labels.one, result.labels.several) == (2, 2)
    assert result.labels.auroc.ball.value == 1
    metrics = SceneNorm().metrics(result, None)
    assert set(metrics) == set(SceneNorm.gives)


def test_images_with_unknown_labels_count_only_if_several_are_known() -> None:
    labels = np.array([[1, 0, 0], [1, -1, 0], [1, 1, -1], [0, 0, 0], [1, 1, 0]], np.int8)
    norms = np.array([0.0, 9.0, 2.0, 9.0, 1.0])
    found = several_labels(norms, -norms, labels)
    assert found is not None and (found.one, found.several) == (1, 2)
    assert (found.auroc.ball.value, found.auroc.features.value) == (1, 0)
    assert several_labels(norms, norms, labels[:2]) is None
    assert several_labels(norms, norms, None) is None


def test_the_correlation_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(1, 9, 60)
    norms, lengths = numbers + rng.normal(0, 2, 60), rng.normal(size=60)
    found = by_objects(norms, lengths, numbers, np.arange(60))
    assert found.correlation.ball.value == pytest.approx(spearmanr(numbers, norms).statistic)
    assert found.correlation.ball.low > 0 > found.correlation.features.low
    assert [group.name for group in found.groups][-1] == "6 or more"
    assert sum(group.count for group in found.groups) == 60


def test_what_is_missing_gets_a_reason() -> None:
    with pytest.raises(NotApplicable, match=r"no head for the Poincaré ball: only runs of .*'hcl'"):
        measured(painted_subject(Painted(SCENES), curvature=None))
    bare = Painted(SCENES)
    bare.box_classes = bare.multilabels = None
    with pytest.raises(NotApplicable, match="neither boxes of objects nor several labels"):
        measured(painted_subject(bare))


def test_the_page_has_a_plot_tables_and_pictures_or_a_note(result: SceneNormResult) -> None:
    kinds = [type(one) for one in SceneNorm().exhibits({"model": result}, None)]
    assert kinds == [Plot, Table, Table, Pictures]
    bare = Painted([(name,) for name in COLORS])
    bare.box_classes = None
    without = measured(painted_subject(bare))
    assert without.objects is None and without.labels is None
    assert SceneNorm().metrics(without, None) == {}
    notes = [type(one) for one in SceneNorm().exhibits({"model": without}, None)]
    assert notes == [Note, Note, Pictures]
