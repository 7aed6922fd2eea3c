"""Likeness of shuffled patches: by hand, and of models that see places or do not."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.measurements.pair_similarity import PairsResult, Similarity, pairs_result
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Plot, Table
from unshortcut.measuring.pairs import KINDS
from unshortcut.measuring.similarities import pair_similarities

SIDE = 32


def blocks(count: int) -> NDArray[np.uint8]:
    """Images of a few large blocks of random colors."""
    colors = np.random.default_rng(0).integers(0, 256, (count, 4, 4, 3))
    return colors.repeat(SIDE // 4, axis=1).repeat(SIDE // 4, axis=2).astype(np.uint8)


def colors(images: Tensor) -> Tensor:
    """The values of each channel, wherever the pixels are."""
    return images.flatten(2).sort(dim=2).values.flatten(1) - 0.5


def measured(features: Any, count: int = 24, **settings: Any) -> PairsResult:
    subject = subject_of(None, arrays(blocks(count)), features=features, **settings)
    return Similarity().measure(subject, lambda done, total: None)


def by_hand(**cosines: list[float]) -> PairsResult:
    return pairs_result({kind: np.array(values) for kind, values in cosines.items()})


def test_likeness_is_counted_from_another_image_to_another_view() -> None:
    result = by_hand(
        positive=[0.9, 0.7], negative=[0.1, -0.1], patch=[0.5, 0.3], texture=[0.3, 0.1]
    )
    assert result.kinds["positive"].mean.value == pytest.approx(0.8)
    assert result.likeness["patch"].value == pytest.approx(0.5)
    assert result.likeness["texture"].value == pytest.approx(0.25)
    metrics = Similarity().metrics(result, None)
    assert metrics["similarity_patch_likeness"].value == pytest.approx(0.5)
    assert metrics["similarity_patch"].value == pytest.approx(0.4)
    assert not metrics["similarity_patch"].percent


def test_likeness_has_no_meaning_where_all_images_are_alike() -> None:
    same = [1.0, 1.0, 1.0]
    result = by_hand(positive=same, negative=same, patch=same, texture=same)
    assert np.isnan(result.likeness["patch"].value) and np.isnan(result.likeness["patch"].low)
    assert Similarity().finding(result) is None
    read = from_json(PairsResult, to_json(result))
    assert np.isnan(read.likeness["patch"].value) and read.kinds == result.kinds


def test_a_model_that_sees_no_places_takes_shuffled_patches_for_the_image() -> None:
    blind = measured(colors)
    seeing = measured(lambda images: images.flatten(1) - 0.5)
    assert blind.kinds["patch"].mean.low > 0.95 > 0.5 > seeing.kinds["patch"].mean.high
    assert blind.likeness["patch"].value > seeing.likeness["patch"].value


def test_cosines_are_those_of_the_command_in_the_space_of_features() -> None:
    subject = subject_of(None, arrays(blocks(12)), features=colors, seed=3)
    told: list[tuple[int, int]] = []
    result = Similarity().measure(subject, lambda done, total: told.append((done, total)))
    expected = pair_similarities(subject.model, subject.data, count=12, seed=3)
    for kind in KINDS:
        assert result.kinds[kind].mean.value == pytest.approx(expected[kind].mean())
        assert sum(result.kinds[kind].distribution.histogram) == 12
    assert told[-1] == (12, 12) and result.num_images == 12


def test_one_image_has_no_pairs() -> None:
    with pytest.raises(NotApplicable, match="two images"):
        measured(colors, count=1)


def test_the_page_shows_a_panel_a_kind_and_a_line_a_model() -> None:
    cosines = {"positive": [0.9], "negative": [0.0], "patch": [0.5], "texture": [0.5]}
    results = {"a": by_hand(**cosines), "b": by_hand(**cosines)}
    exhibits = Similarity().exhibits(results, None)
    (plot,) = [one for one in exhibits if isinstance(one, Plot)]
    json.dumps(plot.figure)
    traces = plot.figure["data"]
    assert [trace["name"] for trace in traces] == ["a", "b"] * 4
    assert len({trace["yaxis"] for trace in traces}) == 4
    assert all(sum(trace["y"]) == pytest.approx(1) for trace in traces)
    (at,) = np.flatnonzero(traces[0]["y"])
    assert traces[0]["x"][at] == pytest.approx(0.9, abs=0.02)
    (table,) = [one for one in exhibits if isinstance(one, Table)]
    assert [row[1] for row in table.rows] == ["a", "b"] * 4
    assert table.rows[0][2] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (
            0.83,
            "finds an image's shuffled patches 83 % as similar to the image as another view of it",
        ),
        (
            1.5,
            "finds an image's shuffled patches more similar to the image than another view of it",
        ),
        (0.2, None),
    ],
)
def test_the_verdict_speaks_of_likeness_that_matters(patch: float, text: str | None) -> None:
    result = by_hand(
        positive=[0.5, 0.5], negative=[0.0, 0.0], patch=[patch / 2] * 2, texture=[0.0, 0.0]
    )
    finding = Similarity().finding(result)
    assert (finding and finding.text) == text
    assert finding is None or 0 < finding.weight <= 1
