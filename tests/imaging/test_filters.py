"""Bilateral filter and cartoon remove texture, preserve edges, and accept any image."""

from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imaging.pictures import KINDS, pictures
from unshortcut.imaging.filters import Outlines, bilateral, cartoon

FILTERS = [bilateral, cartoon]
Filter = Callable[..., np.ndarray]


@pytest.fixture
def threads() -> Iterator[None]:
    before = cv2.getNumThreads()
    yield
    cv2.setNumThreads(before)


def naive_bilateral(image: np.ndarray, diameter: int, color: float, space: float) -> np.ndarray:
    """One pass by its definition, over the disc, borders mirrored without the edge."""
    radius = diameter // 2
    padded = np.pad(image.astype(float), [(radius, radius), (radius, radius), (0, 0)], "reflect")
    height, width = image.shape[:2]
    total, weights = np.zeros(image.shape), np.zeros((height, width, 1))
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if y * y + x * x > radius * radius:
                continue
            other = padded[radius + y :, radius + x :][:height, :width]
            apart = np.abs(other - image).sum(-1, keepdims=True)
            weight = np.exp(-(apart**2) / (2 * color**2) - (y * y + x * x) / (2 * space**2))
            total += weight * other
            weights += weight
    return total / weights


def test_bilateral_is_its_definition() -> None:
    image = pictures("drawn", 1)[0][:40, :50]
    out = bilateral(image, diameter=7, sigma_color=40, sigma_space=3, repeats=1)
    assert np.abs(out - naive_bilateral(image, 7, 40, 3)).max() < 1
    twice = bilateral(out, diameter=7, sigma_color=40, sigma_space=3, repeats=1)
    again = bilateral(image, diameter=7, sigma_color=40, sigma_space=3, repeats=2)
    np.testing.assert_array_equal(again, twice)


@pytest.mark.parametrize("outlines", ["image", "filtered"])
@pytest.mark.parametrize("kind", KINDS)
def test_cartoon_is_the_flat_image_with_the_dark_edges_of_the_gray_one_black(
    kind: str, outlines: Outlines
) -> None:
    for image in pictures(kind, 2):
        image = image[:200, :200]
        out = cartoon(image, outlines=outlines)
        flat = bilateral(image)
        drawn = image if outlines == "image" else flat
        gray = cv2.medianBlur(cv2.cvtColor(drawn, cv2.COLOR_RGB2GRAY), 7).astype(int)
        padded = np.pad(gray, 4, "edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, (9, 9))
        margin = gray - (windows.mean((2, 3)) - 4)
        np.testing.assert_array_equal(out[margin < -1], 0)
        np.testing.assert_array_equal(out[margin > 1], flat[margin > 1])
        share = ((out == 0).all(-1) & (flat > 0).any(-1)).mean()
        assert 0 < share < 0.4


def test_by_default_a_cartoon_has_outlines_that_the_filter_would_remove() -> None:
    stripes = np.where(np.arange(48) % 12 < 6, 120, 132)[None, :, None]
    image = np.broadcast_to(stripes, (48, 48, 3)).astype(np.uint8)  # weak texture
    assert (cartoon(image) == 0).any()
    assert (cartoon(image, outlines="filtered") > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_bilateral_takes_out_weak_detail_and_leaves_strong_edges(kind: str) -> None:
    for image in pictures(kind, 2):
        image = image[:224, :224]
        out = bilateral(image)
        before, after = (np.abs(np.diff(one.astype(int), axis=1)).sum(-1) for one in (image, out))
        weak, strong = before < 30, before > 150
        assert after[weak].mean() < 0.6 * before[weak].mean()
        if kind == "photographs" and strong.any():
            assert after[strong].mean() > 0.6 * before[strong].mean()


@pytest.mark.parametrize("function", FILTERS)
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 24), st.integers(1, 24), st.integers(0, 2**32), st.booleans())
def test_any_size_and_layout_in_range_and_input_untouched(
    function: Filter, height: int, width: int, seed: int, extremes: bool
) -> None:
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = np.where(image > 127, 255, 0).astype(np.uint8) if extremes else image
    before = image.copy()
    out = function(image)
    assert out.shape == image.shape
    assert out.dtype == np.uint8
    assert out.max() <= image.max()
    if function is bilateral:
        assert out.min() >= image.min()
    assert not np.shares_memory(out, image)
    np.testing.assert_array_equal(function(np.asfortranarray(image)), out)
    np.testing.assert_array_equal(function(image[::-1, :, ::-1][::-1, :, ::-1]), out)
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("function", FILTERS)
def test_a_constant_image_stays(function: Filter) -> None:
    image = np.full((15, 11, 3), (10, 200, 255), np.uint8)
    np.testing.assert_array_equal(function(image), image)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("function", FILTERS)
def test_the_number_of_threads_changes_nothing(function: Filter) -> None:
    image = pictures("drawn", 1)[0]
    results = []
    for count in (1, 2, 5):
        cv2.setNumThreads(count)
        results.append(function(image))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize(
    ("function", "wrong", "sentence"),
    [
        (bilateral, {"diameter": 0}, "diameter must be at least 1"),
        (bilateral, {"repeats": -1}, "repeats at least 0, not 9 and -1"),
        (bilateral, {"sigma_color": 0}, "must be above 0, not 0 and 7.0"),
        (cartoon, {"sigma_space": -1}, "must be above 0"),
        (cartoon, {"median": 4}, "median must be odd"),
        (cartoon, {"outlines": "sketch"}, "must be one of .*, not 'sketch'"),
        (cartoon, {"block": 1}, "block odd and at least 3, not 7 and 1"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(
    function: Filter, wrong: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        function(np.zeros((3, 3, 3), np.uint8), **wrong)
