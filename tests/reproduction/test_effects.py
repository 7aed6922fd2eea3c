"""Effects: intervals as scipy has them, slopes as numpy has them, verdicts by their rules."""

import numpy as np
import pytest
from scipy import stats

from unshortcut.reproduction.effects import (
    LinearContrast,
    Peak,
    WonBack,
    difference,
    direction,
    equality,
    not_worse,
    sign,
    slope,
    t_interval,
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


def test_one_seed_has_no_interval_and_says_so() -> None:
    assert t_interval([1.0]) is None
    found = difference("test", "a", "b", -1).find(metrics(a=[1.0], b=[2.0]), NO_PAPER)
    assert found.interval is None and found.verdict == "one seed, as predicted"
    assert sign(1, -1.0, None) == "one seed, against the prediction"
    assert direction(None) == "one seed"


@pytest.mark.parametrize(
    ("interval", "up", "down"),
    [
        ((0.1, 2.0), "appears", "reversed"),
        ((-2.0, -0.1), "reversed", "appears"),
        ((-0.1, 2.0), "does not appear", "does not appear"),
        ((0.0, 0.0), "does not appear", "does not appear"),
    ],
)
def test_the_verdict_on_a_predicted_sign(interval: tuple[float, float], up: str, down: str) -> None:
    mean = sum(interval) / 2
    assert sign(1, mean, interval) == up
    assert sign(-1, mean, interval) == down


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.5, 3.0), "exceeds"),
        ((-1.9, 3.0), "matches"),
        ((-1.9, -0.5), "matches"),
        ((-2.5, -0.5), "falls short"),
        ((-9.0, -3.0), "falls short"),
        ((-2.5, 0.5), "undecided"),
    ],
)
def test_the_verdict_on_equality_within_two_points(
    interval: tuple[float, float], verdict: str
) -> None:
    assert equality(sum(interval) / 2, interval, 2.0) == verdict
    assert equality(-1.0, None, 2.0) == "one seed, as predicted"


def test_what_holds_is_judged_by_the_margin() -> None:
    given = metrics(a=[68.9, 69.0, 69.1], b=[70.0, 70.0, 70.0])
    assert not_worse("test", "a", "b").find(given, NO_PAPER).verdict == "matches"
    assert not_worse("test", "a", "b", margin=0.5).find(given, NO_PAPER).verdict == "falls short"
    assert not_worse("test", "b", "a").find(given, NO_PAPER).verdict == "exceeds"


def test_where_nothing_is_predicted_the_direction_is_told() -> None:
    assert direction((1.0, 2.0)) == "higher"
    assert direction((-2.0, -1.0)) == "lower"
    assert direction((-1.0, 1.0)) == "not told apart"


def test_the_papers_figures_make_the_same_contrast() -> None:
    given = metrics(a=[1.0, 2.0], b=[1.0, 1.0])
    paper = {"a": {"test": 79.5}, "b": {"test": 77.0}}
    assert difference("test", "a", "b", 1).find(given, paper).paper == pytest.approx(2.5)
    assert difference("test", "a", "b", 1).find(given, {"a": {"test": 1.0}, "b": {}}).paper is None
    stated = LinearContrast("x", "test", {"a": 1.0, "b": -1.0}, margin=2.0, paper=1.25)
    assert stated.find(given, paper).paper == 1.25


def test_a_peak_is_the_best_of_the_others_against_the_base() -> None:
    given = metrics(a=[50.0, 51.0, 52.0], b=[51.0, 52.1, 53.0], c=[59.0, 60.1, 61.0])
    paper = {"a": {"test": 20.0}, "b": {"test": 26.0}, "c": {"test": 25.0}}
    found = Peak("test", "a", ["b", "c"]).find(given, paper)
    assert found.verdict == "appears, the best chosen after the fact; highest at c"
    assert found.values == pytest.approx((9.0, 9.1, 9.0))
    assert found.paper == pytest.approx(6.0)
    lower = metrics(a=[90.0, 91.0, 92.0], b=given_values(given, "b"), c=given_values(given, "c"))
    assert Peak("test", "a", ["b", "c"]).find(lower, paper).verdict == (
        "reversed, the best chosen after the fact; highest at a"
    )


def given_values(given: dict[str, list[dict[str, float]]], name: str) -> list[float]:
    return [one["test"] for one in given[name]]


def test_most_is_won_back_where_the_gain_exceeds_half_of_the_loss() -> None:
    given = metrics(a=[80.0, 81.0, 80.0], b=[70.0, 71.0, 70.0], c=[78.0, 79.1, 78.0])
    paper = {"a": {"test": 77.88}, "b": {"test": 70.44}, "c": {"test": 76.42}}
    found = WonBack("test", "a", "b", "c").find(given, paper)
    assert found.verdict == "appears; 80 % of the loss won back"
    assert found.paper == pytest.approx(76.42 - (77.88 + 70.44) / 2)
    for full in ([70.0, 70.0], [90.0, 69.0]):
        none = metrics(a=full, b=[71.0, 71.0], c=[99.0, 99.0])
        assert (
            "the loss does not appear" in WonBack("test", "a", "b", "c").find(none, paper).verdict
        )
    single = metrics(a=[80.0], b=[70.0], c=[72.0])
    verdict = WonBack("test", "a", "b", "c").find(single, paper).verdict
    assert verdict == "one seed, against the prediction; 20 % of the loss won back"
