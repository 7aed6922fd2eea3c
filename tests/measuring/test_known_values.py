"""Known shape biases: counted where decisions are published, one per name, each with its source."""

import pytest

from tests.measurements.shape_bias.published import read_decisions
from tests.real_data import real_data
from unshortcut.measuring.known_values import (
    comparable_shape_biases,
    is_untrained,
    known_shape_biases,
)

STYLIZED = "ResNet-50 trained on stylized images"


@pytest.mark.parametrize(
    ("file", "name"),
    [("resnet50", "ResNet-50"), ("alexnet", "AlexNet"), ("resnet50-stylized", STYLIZED)],
)
def test_values_are_those_of_the_published_decisions(file: str, name: str) -> None:
    counts = read_decisions(real_data("decisions") / f"{file}.csv").shape_bias()
    (one,) = (
        known for known in known_shape_biases() if (known.name, known.aggregate) == (name, "sum")
    )
    assert (one.bias, one.coverage) == pytest.approx((counts.bias, counts.coverage))


def test_each_value_is_the_known_one_and_has_a_source() -> None:
    by_mean = {one.name: one for one in comparable_shape_biases("mean")}
    assert {name: round(100 * one.bias, 1) for name, one in by_mean.items()} == {
        "humans": 95.9,
        "ResNet-50": 21.4,
        STYLIZED: 81.4,
        "CLIP ViT-L/14, zero-shot": 60.2,
        "ViT-B/16, ImageNet-21k": 45.4,
        "ViT-22B": 87.0,
        "AlexNet": 25.3,
        "ConvNeXt-B": 30.3,
    }
    assert all("et al." in one.source for one in by_mean.values())
    coverage = by_mean["humans"].coverage
    assert coverage is not None and round(coverage, 2) == 0.8
    by_sum = {one.name: one.bias for one in comparable_shape_biases("sum")}
    assert by_sum["ResNet-50"] == pytest.approx(0.2207, abs=1e-4)
    assert by_sum.keys() == by_mean.keys()


@pytest.mark.parametrize(
    ("name", "untrained"),
    [
        ("untrained", True),
        ("embedded:untrained", True),
        ("timm:resnet18@random", True),
        ("timm:resnet18", False),
        ("untrained-then-tuned", False),
    ],
)
def test_a_model_without_training_is_known_by_its_name(name: str, untrained: bool) -> None:
    assert is_untrained(name) is untrained
