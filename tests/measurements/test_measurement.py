"""Metrics of estimates."""

from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.estimates import Estimate


def test_a_metric_of_an_estimate_has_its_value_and_its_interval() -> None:
    made = Metric.of("Spread", Estimate(0.5, 0.4, 0.7), percent=False, better="lower", note="of 9")
    assert made == Metric("Spread", 0.5, 0.4, 0.7, percent=False, better="lower", note="of 9")
    assert Metric.of("Rest", Estimate(0.5, 0.4, 0.7), headline=False).headline is False


def test_a_metric_without_an_interval_says_so() -> None:
    nan = float("nan")
    assert Metric.of("Share", Estimate(0.5, nan, nan)) == Metric("Share", 0.5)
