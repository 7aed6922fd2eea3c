"""The time of measurements, estimated and printed before they start."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.measurements.test_passes import Brightness, brightness
from unshortcut.auditing import forecast as forecasts
from unshortcut.auditing.forecast import Forecast, seconds_per_pass
from unshortcut.auditor import audit
from unshortcut.measurements.measurement import measurements
from unshortcut.models.load import LoadedModel, from_object


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


def counting() -> LoadedModel:
    module = Brightness(3)
    module.classes = ("dark", "gray", "light")  # type: ignore[assignment]
    module.preprocessing = {"size": 32, "crop_share": 1.0, "mean": (0,) * 3, "std": (1,) * 3}  # type: ignore[assignment]
    return from_object(module, "brightness")


def test_the_cost_is_the_speed_of_the_model_times_the_passes_that_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forecasts, "seconds_per_pass", lambda subject, plain: 0.5)
    subject = brightness(20)
    chosen = measurements(["confidence", "texture_only", "shape_bias", "saliency"])
    found = Forecast(subject, chosen)
    texture = found.of("texture_only")
    assert texture is not None
    assert (texture.passes, texture.seconds) == (60 + 120, 90.0)
    left = found.left()
    assert left.passes == 60 + 120 + 120 + 64  # plain, textures, stimuli, gradients
    assert left.seconds == 0.5 * (60 + 120 + 120 + 3 * 64)
    subject.outputs(subject.labeled())
    assert found.left().passes == left.passes - 60, "plain images are known now"
    found.done("texture_only", texture, 0.0)
    assert found.of("texture_only") is None
    assert (found.left().passes, found.left().seconds) == (120 + 64, 0.5 * (120 + 3 * 64))


def test_what_was_slower_than_expected_makes_the_rest_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forecasts, "seconds_per_pass", lambda subject, plain: 0.5)
    found = Forecast(brightness(20), measurements(["shape_bias", "texture_only"]))
    stimuli = found.of("shape_bias")
    assert stimuli is not None
    found.done("shape_bias", stimuli, seconds=120.0)  # twice as long as expected
    assert found.left().seconds == pytest.approx(180 * (64 * 0.5 + 120) / (64 + 120))


def test_the_speed_is_measured_on_images_that_are_needed_anyway() -> None:
    subject = brightness(60)
    module = subject.model.module
    assert isinstance(module, Brightness)
    module.passed = 0
    assert 0 < seconds_per_pass(subject, 150) < 1
    assert module.passed == subject.num_known == 128
    module.passed = 0
    assert seconds_per_pass(replace(subject), 0) > 0
    assert module.passed == 64


def test_a_measurement_that_will_fail_or_states_nothing_costs_nothing() -> None:
    subject = brightness(4)
    silent = measurements(["frequency"])["frequency"]
    silent.passes = lambda subject: None  # type: ignore[method-assign]
    broken = measurements(["texture_only"])["texture_only"]
    broken.passes = lambda subject: 1 / 0  # type: ignore[assignment, method-assign, return-value]
    found = Forecast(subject, {"frequency": silent, "texture_only": broken})
    assert (found.left().passes, found.of("frequency")) == (0, None)


def _said(model: LoadedModel, **options: object) -> list[str]:
    console = Console(file=io.StringIO(), width=200)
    data = brightness(8).data
    audit({"mine": model}, data, console=console, **options)  # type: ignore[arg-type]
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_passes_and_times_are_printed_before_each_measurement_and_nothing_for_cached_ones() -> None:
    model = counting()
    said = _said(model, only=["confidence", "texture_only"], profile="quick")
    about = r"(less than a second|about [\d.]+ s)"
    lines = [
        rf"  48 forward passes, {about}",
        rf"  Texture only: 48 passes, {about}; {about} left in all",
        r"  Texture only: [\d.]+ s",
    ]
    order = [next(at for at, one in enumerate(said) if re.fullmatch(line, one)) for line in lines]
    assert order == sorted(order)
    again = _said(model, only=["confidence", "texture_only"], profile="quick")
    assert not any("passes" in line for line in again)
    more = _said(model, only=["texture_only", "frequency"], profile="quick")
    assert any(line.startswith("  768 forward passes") for line in more), more
