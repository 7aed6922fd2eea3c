"""Metrics of the audit as measures: of an encoder that sees nothing but the mean color."""

from pathlib import Path

import numpy as np
import pytest
from torch import Tensor

from tests.measuring.made import arrays
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.audited import AuditMeasure

SIDE, EACH = 16, 12
MEASURE = AuditMeasure("frequency", ("low_pass_accuracy", "high_pass_accuracy"))


def mean_color(images: Tensor) -> Tensor:
    return images.mean(dim=(2, 3))


@pytest.fixture
def evaluation(monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    """Noise around dark, medium and bright gray, which is the class."""
    labels = np.repeat(np.arange(3), EACH)
    noise = np.random.default_rng(0).integers(-20, 21, (len(labels), SIDE, SIDE, 3))
    pixels = (60 * (1 + labels)[:, None, None, None] + noise).astype(np.uint8)
    images = arrays(pixels, labels, ("dark", "medium", "bright"))
    seen = Preprocessing(size=SIDE, crop_share=1.0, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    model = LoadedModel("encoder", seen, mean_color, None)  # type: ignore[arg-type]
    monkeypatch.setattr("unshortcut.reproduction.subjects.load_model", lambda run: model)
    tests = {"test": images, "texture": images}
    return Evaluation(images, tests)  # type: ignore[arg-type]


def test_metrics_are_those_of_the_measurement_in_percent(evaluation: Evaluation) -> None:
    found = MEASURE.compute(Path("run"), evaluation)
    # A low-pass keeps the mean; a high-pass has the same mean for all images: chance.
    assert found == pytest.approx({"low_pass_accuracy": 100, "high_pass_accuracy": 100 / 3})


def test_other_images_settings_or_measurements_are_measured_anew(evaluation: Evaluation) -> None:
    fewer = AuditMeasure(MEASURE.measurement, MEASURE.metrics, images=5)
    other = AuditMeasure("corruptions", ("corruption_accuracy",))
    found = [one.dependencies(evaluation) for one in (MEASURE, MEASURE, fewer, other)]
    assert found[0] == found[1] and found[0] not in found[2:]
