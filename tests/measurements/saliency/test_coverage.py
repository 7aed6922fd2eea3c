"""Shares of area and edges under a saliency map, by hand."""

import math

import numpy as np

from unshortcut.measurements.saliency.maps import coverage, edges, salient


def _halves(side: int = 64) -> np.ndarray:
    """Black and white, with one edge down the middle."""
    pixels = np.zeros((side, side, 3), np.uint8)
    pixels[:, side // 2 :] = 255
    return pixels


def test_what_has_half_the_maximum_is_salient() -> None:
    saliency = np.array([[0.0, 0.2, 0.39], [0.4, 0.5, 0.8]], np.float32)
    np.testing.assert_array_equal(salient(saliency), [[0, 0, 0], [1, 1, 1]])
    assert not salient(np.zeros((4, 4), np.float32)).any()


def test_edges_are_the_steepest_tenth() -> None:
    steep = edges(_halves())
    assert steep.any() and steep.mean() <= 0.1
    columns = np.flatnonzero(steep.any(axis=0))
    assert columns.min() >= 28 and columns.max() <= 35 and steep[:, 31:33].all()


def test_a_flat_image_has_no_edges() -> None:
    flat = np.full((32, 32, 3), 77, np.uint8)
    assert not edges(flat).any()
    area, edge = coverage(np.ones((32, 32), np.float32), flat)
    assert area == 1.0 and math.isnan(edge)


def test_coverage_of_the_edge_or_of_the_rest() -> None:
    middle, left = np.zeros((2, 64, 64), np.float32)
    middle[:, 24:40] = 1
    left[:, :16] = 1
    assert coverage(middle, _halves()) == (0.25, 1.0)
    assert coverage(left, _halves()) == (0.25, 0.0)
    half = np.zeros((64, 64), np.float32)
    half[:32] = 0.7
    assert coverage(half, _halves()) == (0.5, 0.5)


def test_an_empty_map_covers_nothing_that_could_be_counted() -> None:
    assert all(map(math.isnan, coverage(np.zeros((64, 64), np.float32), _halves())))
