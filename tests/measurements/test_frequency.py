"""Frequencies: models that are known to look at one end of the spectrum are told apart."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, plain_values, to_json
from unshortcut.data.source import ImageSource
from unshortcut.measurements.frequency import (
    Frequency,
    FrequencyCurve,
    FrequencyResult,
)
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Pictures, Plot, Table
from unshortcut.measuring.frequency_balance import coarse_share, crossing
from unshortcut.measuring.glance import Axis

SIDE = 32


def striped() -> ImageSource:
    """Bright and striped along, or dark and striped across; stripes of one pixel, some noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 2
    x = np.arange(SIDE)
    images = []
    for label in labels:
        stripes = 30 * (-1.0) ** (x[None, :] if label else x[:, None])
        noise = rng.normal(0, 5, (SIDE, SIDE, 3))
        images.append(np.clip(110 + 30 * label + stripes[:, :, None] + noise, 0, 255))
    return arrays(np.array(images).astype(np.uint8), labels, ("dark", "bright"))


def by_brightness(images: Tensor) -> Tensor:
    bright = images.mean(dim=(1, 2, 3)) - 125 / 255
    return 50 * torch.stack([-bright, bright], dim=1)


def by_stripes(images: Tensor) -> Tensor:
    across = (images[..., 1:] - images[..., :-1]).abs().mean(dim=(1, 2, 3))
    along = (images[..., 1:, :] - images[..., :-1, :]).abs().mean(dim=(1, 2, 3))
    # Where neither is there, the answer is always the first.
    return 50 * torch.stack([along + 0.001, across], dim=1)


def measured(model: object) -> FrequencyResult:
    calls: list[tuple[int, int]] = []
    subject = subject_of(model, striped())  # type: ignore[arg-type]
    result = Frequency().measure(subject, lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls) and calls[-1] == (24 * 32, 24 * 32)
    return result


@pytest.fixture(scope="module")
def fine() -> FrequencyResult:
    return measured(by_stripes)


@pytest.fixture(scope="module")
def coarse() -> FrequencyResult:
    return measured(by_brightness)


def values(result: FrequencyResult, kept: str, shape: str = "square") -> list[float]:
    return [one.value for one in result.curve(kept, shape).accuracy]  # type: ignore[arg-type]


def test_a_model_that_looks_at_the_mean_is_right_at_every_low_pass_and_no_high_pass(
    coarse: FrequencyResult,
) -> None:
    assert coarse.clean.value == 1 and coarse.num_images == 24 and coarse.size == SIDE
    assert coarse.sides == (1, 2, 4, 8, 12, 16, 24, 32)
    for shape in ("square", "round"):
        assert values(coarse, "low", shape) == [1.0] * 8
        assert values(coarse, "high", shape) == [0.5] * 8
    assert coarse.half_r == coarse.shares[0]
    assert Frequency().finding(coarse) is None


def test_a_model_that_looks_at_the_finest_stripes_needs_them_and_no_more(
    fine: FrequencyResult,
) -> None:
    assert values(fine, "low")[:6] == pytest.approx([0.5] * 6, abs=0.25)
    assert values(fine, "low")[-1] == 1  # a square as large as the image holds everything
    assert values(fine, "high")[:-1] == [1.0] * 7
    assert values(fine, "high")[-1] == 0.5  # gray, and nothing else
    assert fine.half_r > 0.5
    finding = Frequency().finding(fine)
    assert finding is not None and finding.text.startswith(
        ("depends on high frequencies", "has an accuracy of 100 % on images without")
    )


def test_half_r_lies_between_the_points_where_the_curve_crosses() -> None:
    assert crossing((0.1, 0.2, 0.4), (0.1, 0.3, 0.7), 0.5) == pytest.approx(0.3)
    assert crossing((0.1, 0.2), (0.6, 0.9), 0.5) == 0.1
    assert math.isnan(crossing((0.1, 0.2), (0.1, 0.2), 0.5))


def test_findings_name_the_end_that_matters_more() -> None:
    def result(low: float, high: float, clean: float = 0.9) -> FrequencyResult:
        def ends(value: float) -> Estimate:
            return Estimate(value, value - 0.03, value + 0.03)

        curves = (
            FrequencyCurve("low", "square", (ends(low),), ()),
            FrequencyCurve("high", "square", (ends(high),), ()),
        )
        return FrequencyResult(200, 200, 64, 0.1, ends(clean), (0.25,), (16,), curves)

    found = Frequency().finding(result(low=0.3, high=0.2))
    assert found is not None
    assert (
        found.text
        == "depends on high frequencies: its accuracy falls from 90 % to 30 % without them"
    )
    assert found.weight == pytest.approx(0.7 * 0.75)
    found = Frequency().finding(result(low=0.8, high=0.61))
    assert found is not None
    assert found.text.startswith("has an accuracy of 61 % on images without the lowest quarter")
    assert Frequency().finding(result(low=0.8, high=0.2)) is None
    assert Frequency().finding(result(low=0.1, high=0.1, clean=0.11)) is None  # knows nothing


def test_at_a_glance_models_stand_between_detail_and_outline(
    fine: FrequencyResult, coarse: FrequencyResult
) -> None:
    (axis,) = Frequency().glance({"fine": fine, "coarse": coarse})
    assert isinstance(axis, Axis) and (axis.left, axis.right) == ("detail", "outline")
    assert axis.positions["fine"].value < 0.2 and axis.positions["fine"].high < 0.5
    assert axis.positions["coarse"].value == 1 and axis.positions["coarse"].low > 0.5
    never = np.zeros(24, bool)
    blind = replace(fine, coarse_share=coarse_share(never, never, 0.5))
    (axis,) = Frequency().glance({"blind": blind})
    assert isinstance(axis, Axis)
    assert axis.positions == {} and axis.missing == {"blind": "recognizes neither"}


def test_the_coarse_share_counts_above_chance() -> None:
    right = np.arange(100)
    found = coarse_share(right < 80, right < 30, 0.1)  # 70 and 20 points above chance
    assert found.value == pytest.approx(7 / 9)
    assert found.low < 7 / 9 < found.high
    assert coarse_share(right < 80, right < 5, 0.1).value == 1


def test_metrics_are_those_of_a_quarter_of_the_side(fine: FrequencyResult) -> None:
    metrics = Frequency().metrics(fine, None)
    at = fine.shares.index(0.25)
    assert metrics["low_pass_accuracy"].value == values(fine, "low")[at]
    assert metrics["high_pass_accuracy"].value == values(fine, "high")[at]
    assert metrics["high_pass_round_accuracy"].value == values(fine, "high", "round")[at]
    assert metrics["frequency_half_r"].value == fine.half_r
    low, high = metrics["high_pass_accuracy"].low, metrics["high_pass_accuracy"].high
    assert low == pytest.approx(0.862, abs=0.001) and high == 1  # Wilson, 24 of 24


def test_models_are_shown_beside_each_other_and_results_survive_json(
    fine: FrequencyResult, coarse: FrequencyResult
) -> None:
    assert from_json(FrequencyResult, to_json(fine)) == fine
    assert plain_values(fine)["curves"][0]["accuracy"][-1]["value"] == 1
    shown = Frequency().exhibits({"fine": fine, "coarse": coarse}, None)
    plots = [one for one in shown if isinstance(one, Plot)]
    assert [one.title for one in plots] == ["Low-pass", "High-pass"]
    names = [trace["name"] for trace in plots[0].figure["data"]]
    assert names == ["fine, square", "fine, round", "coarse, square", "coarse, round"]
    assert list(plots[1].figure["data"][0]["y"]) == values(fine, "high")
    (pictures,) = (one for one in shown if isinstance(one, Pictures))
    marks = {title: [one.mark for one in row] for title, row in pictures.rows}
    assert marks["coarse: low-pass"] == ["good"] * 8
    assert len(pictures.columns) == 8
    (table,) = (one for one in shown if isinstance(one, Table))
    assert len(table.rows) == 2 * 4 * 8 and len(table.rows[0]) == len(table.columns)
