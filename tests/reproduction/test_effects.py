"""Effects: intervals as scipy has them, slopes as numpy has them, words by their rules."""

import numpy as np
import pytest
from scipy import stats

from unshortcut.reproduction.effects import (
    COSINE,
    Effect,
    difference,
    not_worse,
    slope,
    t_interval,
    won_back,
    word,
)

RNG = np.random.default_rng(0)
NO_PAPER: dict[str, dict[str, float]] = {"a": {}, "b": {}, "c": {}}


def metrics(**variants: list[float]) -> dict[str, list[dict[str, float]]]:
    return {name: [{"test": value} for value in values] for name, values in variants.items()}


@pytest.mark.parametrize("seeds", [2, 3, 7])
def test_a_difference_has_the_interval_of_a_paired_t_test(seeds: int) -> None:
    first, second = RNG.normal(70, 5, seeds), RNG.normal(68, 5, seeds)
    found = difference("test", "a", "b", 1).find(
        metrics(a=first.tolist(), b=second.tolist()), NO_PAPER
    )
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert found.interval == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx((first - second).mean())
    assert found.values == pytest.approx(tuple(first - second))


def test_a_slope_is_that_of_least_squares_for_each_seed() -> None:
    places = {"a": 0.0, "b": 2.0, "c": 5.0}
    table = RNG.normal(50, 5, (3, 4))
    given = metrics(**{name: row.tolist() for name, row in zip(places, table, strict=True)})
    found = slope("slope", "test", places, 1).find(given, NO_PAPER)
    expected = np.polyfit(list(places.values()), table, 1)[0]
    assert found.values == pytest.approx(tuple(expected))


def test_one_seed_has_no_interval_and_decides_nothing() -> None:
    assert t_interval([1.0]) is None
    found = difference("test", "a", "b", -1).find(metrics(a=[1.0], b=[2.0]), NO_PAPER)
    assert found.interval is None and found.verdict == "not decided"


@pytest.mark.parametrize(
    ("interval", "up", "down"),
    [
        ((0.1, 9.0), "appears", "reversed"),
        ((0.1, 1.0), "appears", "reversed"),  # however small: the interval excludes zero
        ((-2.0, -0.1), "reversed", "appears"),
        ((-0.1, 1.9), "no effect", "no effect"),
        ((-2.0, 2.0), "no effect", "no effect"),
        ((0.0, 0.0), "no effect", "no effect"),
        ((-0.1, 2.1), "not decided", "not decided"),
        ((-2.1, 0.1), "not decided", "not decided"),
        ((-9.0, 9.0), "not decided", "not decided"),
        (None, "not decided", "not decided"),
    ],
)
def test_the_words_for_intervals(interval: tuple[float, float] | None, up: str, down: str) -> None:
    assert word(1, interval, 2.0) == up
    assert word(-1, interval, 2.0) == down


def test_the_margin_is_that_of_the_measure() -> None:
    given = metrics(a=[0.50, 0.51, 0.52], b=[0.51, 0.50, 0.52])
    assert difference("test", "a", "b", 1, margin=COSINE).find(given, NO_PAPER).verdict == (
        "no effect"
    )
    wide = metrics(a=[0.50, 0.51, 0.52], b=[0.60, 0.50, 0.52])
    assert difference("test", "a", "b", 1, margin=COSINE).find(wide, NO_PAPER).verdict == (
        "not decided"
    )


def test_the_margin_of_a_slope_is_for_the_change_over_the_axis() -> None:
    given = metrics(a=[50.0, 50.2], b=[51.0, 50.0], c=[50.0, 50.5])
    positions = {"a": 0.0, "b": 5.0, "c": 10.0}
    found = slope("slope", "test", positions, 1, margin=2.0).find(given, NO_PAPER)
    assert found.margin == pytest.approx(0.2)


def test_no_loss_is_claimed_where_equal_agrees_too() -> None:
    given = metrics(a=[69.9, 70.0, 70.1], b=[70.0, 70.0, 70.0], c=[60.0, 60.1, 60.2])
    assert not_worse("test", "a", "b").find(given, NO_PAPER).verdict == "no effect"
    assert not_worse("test", "c", "b").find(given, NO_PAPER).verdict == "reversed"
    assert not_worse("test", "b", "c").find(given, NO_PAPER).verdict == "appears"


def test_where_nothing_is_predicted_there_is_no_word() -> None:
    given = metrics(a=[1.0, 2.0], b=[5.0, 6.0])
    assert difference("test", "a", "b").find(given, NO_PAPER).verdict is None


def test_the_papers_figures_make_the_same_contrast() -> None:
    given = metrics(a=[1.0, 2.0], b=[1.0, 1.0])
    paper = {"a": {"test": 79.5}, "b": {"test": 77.0}}
    assert difference("test", "a", "b", 1).find(given, paper).paper == pytest.approx(2.5)
    assert difference("test", "a", "b", 1).find(given, {"a": {"test": 1.0}, "b": {}}).paper is None
    stated = Effect("x", "test", {"a": 1.0, "b": -1.0}, paper=1.25)
    assert stated.find(given, paper).paper == 1.25


def test_most_is_won_back_where_the_gain_exceeds_half_of_the_loss() -> None:
    effect = won_back("test", "a", "b", "c")
    given = metrics(a=[80.0, 81.0, 80.0], b=[70.0, 71.0, 70.0], c=[78.0, 79.1, 78.0])
    paper = {"a": {"test": 77.88}, "b": {"test": 70.44}, "c": {"test": 76.42}}
    found = effect.find(given, paper)
    assert found.verdict == "appears"
    assert found.paper == pytest.approx(76.42 - (77.88 + 70.44) / 2)
    little = metrics(a=[80.0, 81.0, 80.0], b=[70.0, 71.0, 70.0], c=[72.0, 73.1, 72.0])
    assert effect.find(little, paper).verdict == "reversed"
    for full in ([70.0, 70.0], [90.0, 69.0]):
        none = metrics(a=full, b=[71.0, 71.0], c=[99.0, 99.0])
        assert effect.find(none, paper).verdict == "not decided", "there is no loss to win back"
