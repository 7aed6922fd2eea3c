"""Neighbors among the images of an audit: against scikit-learn, and what the page shows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.measurements.nearest_neighbors import (
    NEIGHBORS,
    Neighbors,
    NeighborsResult,
    agreement,
    neighbor_rows,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note, Pictures, Plot

CLASSES = ("red", "green", "blue")


def tinted(count: int = 30) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images in a color of their class, dim or strong."""
    labels = np.arange(count) % 3
    pixels = np.zeros((count, 8, 8, 3), np.uint8)
    for row, label in enumerate(labels):
        pixels[row, :, :, label] = 100 + 5 * (row % 30)
        pixels[row, :, :, (label + 1) % 3] = row % 30
    return pixels, labels


def color(images: Tensor) -> Tensor:
    return images.mean(dim=(2, 3))


def constant(images: Tensor) -> Tensor:
    """All images are alike; the first ones come first."""
    return images.new_ones(len(images), 4)


def measured(features: Any, labeled: bool = True) -> NeighborsResult:
    pixels, labels = tinted()
    source = arrays(pixels, labels, CLASSES) if labeled else arrays(pixels)
    subject = subject_of(None, source, features=features)
    return Neighbors().measure(subject, lambda done, total: None)


def test_neighbors_of_many_images_are_scikit_learns() -> None:
    values = np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32)
    peer = NearestNeighbors(n_neighbors=NEIGHBORS + 1, metric="cosine").fit(values)
    expected = peer.kneighbors(values, return_distance=False)[:, 1:]
    np.testing.assert_array_equal(neighbor_rows(values), expected)


def test_agreement_and_chance_are_those_of_counting() -> None:
    random = np.random.default_rng(1)
    labels = random.choice(3, 50, p=[0.6, 0.3, 0.1])
    near = np.stack([random.choice(50, NEIGHBORS, replace=False) for _ in range(50)])
    found = agreement(near, labels)
    assert found is not None
    same = [labels[row] == labels[other] for row in range(50) for other in near[row]]
    assert found.share.value == pytest.approx(np.mean(same))
    pairs = [labels[a] == labels[b] for a in range(50) for b in range(50) if a != b]
    assert found.chance == pytest.approx(np.mean(pairs))
    assert found.share.low < found.share.value < found.share.high


def test_a_model_of_colors_finds_images_of_the_same_color() -> None:
    result = measured(color)
    assert result.num_images == 30 and result.agreement is not None
    assert result.agreement.share.value == 1
    metric = Neighbors().metrics(result, None)["neighbor_agreement"]
    assert metric.value == 1 and metric.note == "31 % by chance"  # 9 of the 29 others
    assert Neighbors().finding(result) is None
    for query in result.queries:
        assert [one.mark for one in query.neighbors] == ["good"] * NEIGHBORS
        assert {one.caption for one in query.neighbors} == {query.shown.caption}


def test_a_model_that_tells_nothing_apart_has_marks_of_both_kinds_and_a_verdict() -> None:
    result = measured(constant)
    marks = {one.mark for query in result.queries for one in query.neighbors}
    assert marks == {"good", "bad"}
    finding = Neighbors().finding(result)
    assert finding is not None and "in other classes" in finding.text


def test_queries_are_the_same_for_all_models_and_of_many_classes() -> None:
    one, other = measured(color), measured(constant)
    assert [query.identity for query in one.queries] == [query.identity for query in other.queries]
    assert [query.shown for query in one.queries] == [query.shown for query in other.queries]
    assert len(one.queries) == 8 and {query.shown.caption for query in one.queries} == set(CLASSES)


def test_images_without_labels_have_neighbors_and_no_agreement() -> None:
    result = measured(color, labeled=False)
    assert result.agreement is None and Neighbors().metrics(result, None) == {}
    assert Neighbors().finding(result) is None
    shown = Neighbors().exhibits({"a": result}, None)
    assert not any(isinstance(one, Plot) for one in shown)
    assert {one.mark for query in result.queries for one in query.neighbors} == {""}


def test_the_sheet_has_the_neighbors_of_a_query_by_all_models_one_below_the_other() -> None:
    one, other = measured(color), measured(constant)
    (sheet,) = [
        exhibit
        for exhibit in Neighbors().exhibits({"a": one, "b": other}, None)
        if isinstance(exhibit, Pictures)
    ]
    assert sheet.columns == ("query", "1", "2", "3", "4", "5")
    assert [name for name, _ in sheet.rows] == ["a", "b"] * 8
    queries = [query for pair in zip(one.queries, other.queries, strict=True) for query in pair]
    for (_, row), query in zip(sheet.rows, queries, strict=True):
        assert row == (query.shown, *query.neighbors)


def test_models_that_were_asked_about_other_images_share_only_the_common_ones() -> None:
    one = measured(color)
    part = replace(one, queries=one.queries[2:4])
    sheet = Neighbors().exhibits({"a": one, "b": part}, None)[-1]
    assert isinstance(sheet, Pictures)
    assert [row[0] for _, row in sheet.rows[::2]] == [query.shown for query in part.queries]
    nothing = Neighbors().exhibits({"a": replace(one, queries=one.queries[:2]), "b": part}, None)
    assert isinstance(nothing[-1], Note) and "share no images to show" in nothing[-1].text


def test_a_result_is_read_back_as_it_was() -> None:
    result = measured(color)
    assert from_json(NeighborsResult, to_json(result)) == result


def test_too_few_images_are_said_to_be() -> None:
    pixels, labels = tinted(5)
    subject = subject_of(None, arrays(pixels, labels, CLASSES), features=color)
    with pytest.raises(NotApplicable, match="at least 6 images"):
        Neighbors().measure(subject, lambda done, total: None)
