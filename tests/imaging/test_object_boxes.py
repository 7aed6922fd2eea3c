import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshortcut.imaging.object_boxes import Corners, Growth, dilate, grow, union
from unshortcut.randomness import generator

HEIGHT, WIDTH = 300, 400
GROWTHS: tuple[Growth, ...] = ("centered", "published", "random")


def test_the_margin_is_a_share_of_the_box_or_of_its_coordinates() -> None:
    box = (100.0, 50.0, 200.0, 100.0)
    assert dilate(box, 0.2, "box", HEIGHT, WIDTH) == pytest.approx((80, 40, 220, 110))
    assert dilate(box, 0.2, "published", HEIGHT, WIDTH) == pytest.approx((80, 40, 240, 120))
    assert dilate(box, 0, "box", HEIGHT, WIDTH) == dilate(box, 0, "published", HEIGHT, WIDTH) == box


def test_a_dilated_box_stays_inside_the_image() -> None:
    for formula in ("box", "published"):
        found = dilate((10, 10, 390, 290), 0.5, formula, HEIGHT, WIDTH)  # type: ignore[arg-type]
        assert found[2:] == (WIDTH, HEIGHT)
    assert dilate((10, 10, 390, 290), 0.5, "box", HEIGHT, WIDTH)[:2] == (0, 0)


def published_side(low: float, high: float, window: float, end: float) -> tuple[float, float]:
    """One axis of the rule in the code of object-aware cropping, clipped to the image."""
    if high - low < window:
        start, stop = low, high
        if low - window / 2 > 0:
            start = low - window / 2
        else:
            start, stop = 0, window
        if stop + window / 2 < end:
            stop = stop + window / 2
        else:
            start = min(stop, end) - window
        low, high = start, stop
    return max(low, 0), min(high, end)


@given(st.integers(0, 350), st.integers(1, 50), st.integers(0, 250), st.integers(1, 50))
def test_the_published_growth_is_that_of_the_code(x: int, w: int, y: int, h: int) -> None:
    box = (float(x), float(y), float(x + w), float(y + h))
    found = grow(box, 100, "published", generator(0), HEIGHT, WIDTH)
    (x0, x1), (y0, y1) = published_side(x, x + w, 100, WIDTH), published_side(y, y + h, 100, HEIGHT)
    assert found == pytest.approx((x0, y0, x1, y1))


def test_a_small_box_grows_to_a_window_around_it_that_is_moved_into_the_image() -> None:
    def centered(box: Corners) -> Corners:
        return grow(box, 100, "centered", generator(0), HEIGHT, WIDTH)

    assert centered((190, 140, 210, 160)) == (150, 100, 250, 200)
    assert centered((0, 280, 20, 300)) == (0, 200, 100, 300)
    assert centered((50, 140, 250, 160)) == (50, 100, 250, 200)
    # An image that is smaller than the window is taken whole.
    assert grow((5, 5, 9, 9), 100, "centered", generator(0), 40, 30) == (0, 0, 30, 40)


def test_random_growth_moves_each_end_by_at_most_what_the_side_lacks() -> None:
    box = (190.0, 140.0, 210.0, 160.0)
    grown = np.array([grow(box, 100, "random", generator(s), HEIGHT, WIDTH) for s in range(300)])
    assert (grown[:, :2] <= box[:2]).all()
    assert (grown[:, 2:] >= box[2:]).all()
    assert abs(grown - np.array(box)).max() <= 80
    assert abs(grown - np.array(box)).max() > 70
    large = (10.0, 10.0, 210.0, 160.0)
    assert grow(large, 100, "random", generator(0), HEIGHT, WIDTH) == large


@given(
    st.tuples(*[st.floats(0, 1)] * 4),
    st.sampled_from(GROWTHS),
    st.floats(0, 500),
    st.integers(0, 99),
)
def test_a_grown_box_contains_what_it_can_and_lies_in_the_image(
    ends: tuple[float, float, float, float], growth: Growth, window: float, seed: int
) -> None:
    (x0, x1), (y0, y1) = sorted(ends[:2]), sorted(ends[2:])
    box = (x0 * WIDTH, y0 * HEIGHT, x1 * WIDTH, y1 * HEIGHT)
    a, b, c, d = grow(box, window, growth, generator(seed), HEIGHT, WIDTH)
    assert 0 <= a <= c <= WIDTH
    assert 0 <= b <= d <= HEIGHT
    if growth != "published":  # its window at a border may leave out a part of the box
        assert a <= box[0] + 1e-9
        assert b <= box[1] + 1e-9
        assert c >= box[2] - 1e-9
        assert d >= box[3] - 1e-9


def test_a_union_is_the_smallest_box_around_all() -> None:
    assert union(np.array([[3, 1, 5, 2], [4, 0, 9, 1]], np.float32)) == (3, 0, 9, 2)
