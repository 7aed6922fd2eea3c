"""Invariance: models that are known to ignore a change do not move, others do."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.data.source import ImageSource
from unshortcut.measurements.invariance import Invariance
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import Pictures, Plot, Table
from unshortcut.measuring.invariance_profiles import InvarianceResult, Profile

SIDE = 32
CHANGES = ["rotation", "hue", "saturation", "scale", "blur", "diffusion", "patch_shuffle"]


def pictures(labeled: bool = True) -> ImageSource:
    """Colored noise: each image of a color and a pattern of its own."""
    rng = np.random.default_rng(0)
    colors = rng.integers(0, 256, (12, 1, 1, 3))
    coarse = rng.integers(0, 256, (12, 8, 8, 1)).repeat(4, axis=1).repeat(4, axis=2)
    images = ((2 * colors + coarse) / 3).astype(np.uint8)
    if not labeled:
        return arrays(images)
    return arrays(images, np.arange(12) % 2, ("even", "odd"))


def color(images: Tensor) -> Tensor:
    return images.mean(dim=(2, 3)) - 0.5


def gray_pixels(images: Tensor) -> Tensor:
    luma = (images * torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(dim=1)
    return (luma - luma.mean(dim=(1, 2), keepdim=True)).flatten(1)


def by_red(images: Tensor) -> Tensor:
    red = images[:, 0].mean(dim=(1, 2)) - 0.5
    return torch.stack([red, -red], dim=1)


def measured(
    features: object, source: ImageSource | None = None, logits: object = by_red
) -> InvarianceResult:
    calls: list[tuple[int, int]] = []
    subject = subject_of(logits, source or pictures(), features=features)  # type: ignore[arg-type]
    result = Invariance().measure(subject, lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls) and calls[-1] == (12 * 29, 12 * 29)
    return result


def profile(result: InvarianceResult, name: str) -> Profile:
    return next(one for one in result.profiles if one.name == name)


@pytest.fixture(scope="module")
def by_color() -> InvarianceResult:
    return measured(color)


@pytest.fixture(scope="module")
def by_place() -> InvarianceResult:
    return measured(gray_pixels)


def test_the_mean_color_moves_with_color_and_not_with_place(
    by_color: InvarianceResult,
) -> None:
    assert [one.name for one in by_color.profiles] == CHANGES
    assert by_color.at("rotation", 90.0).value < 1e-9
    assert all(one.value < 1e-9 for one in profile(by_color, "patch_shuffle").movement)
    assert by_color.at("hue", 180.0).value > 0.3
    assert by_color.at("saturation", 1.0).value > 0.1
    grows = [one.value for one in profile(by_color, "saturation").movement]
    assert grows == sorted(grows)


def test_gray_pixels_move_with_place_and_not_with_color(by_place: InvarianceResult) -> None:
    assert by_place.at("saturation", 1.0).value < 0.01
    assert by_place.at("patch_shuffle", 4.0).value == pytest.approx(1, abs=0.2)
    assert by_place.at("rotation", 90.0).low > 0.8
    blur = profile(by_place, "blur")
    assert [one.value for one in blur.movement] == sorted(one.value for one in blur.movement)
    assert blur.cosine == pytest.approx(
        [1 - one.value * by_place.between for one in blur.movement], abs=1e-9
    )


def test_decisions_that_stay_are_counted(by_color: InvarianceResult) -> None:
    shuffled = profile(by_color, "patch_shuffle")
    assert [one.value for one in shuffled.same] == [1.0] * 4
    assert min(one.value for one in profile(by_color, "hue").same) < 1
    metrics = Invariance().metrics(by_color, None)
    assert metrics["same_decisions_patch_shuffle"].value == 1
    assert metrics["invariance_hue"].value == pytest.approx(
        np.mean([one.value for one in profile(by_color, "hue").movement])
    )
    assert not metrics["invariance_hue"].percent


def test_needs_neither_labels_nor_a_classifier(by_color: InvarianceResult) -> None:
    unlabeled = pictures(labeled=False)
    with_head = measured(color, unlabeled)
    assert profile(with_head, "hue").same == profile(by_color, "hue").same
    without = measured(color, unlabeled, logits=None)
    assert [one.same for one in without.profiles] == [()] * len(CHANGES)
    assert [one.movement for one in without.profiles] == [one.movement for one in by_color.profiles]
    (table,) = (
        one for one in Invariance().exhibits({"m": without}, None) if isinstance(one, Table)
    )
    assert len(table.rows[0]) == len(table.columns) == 7


def test_features_that_are_all_alike_have_no_unit() -> None:
    subject = subject_of(None, pictures(), features=lambda images: torch.ones(len(images), 4))
    with pytest.raises(NotApplicable, match="same features"):
        Invariance().measure(subject, lambda done, total: None)


def test_findings_tell_what_is_not_noticed_and_what_is_taken_for_another_image(
    by_color: InvarianceResult, by_place: InvarianceResult
) -> None:
    blind = Invariance().finding(by_color)
    assert blind is not None
    assert blind.text.startswith("hardly notices when the 4 × 4 patches of an image are shuffled")
    assert "0.00 of the distance" in blind.text and blind.weight == pytest.approx(0.8)
    rotated = Invariance().finding(by_place)
    assert rotated is not None and rotated.text.startswith(
        "sees an image rotated by 90° as a different image"
    )
    assert _finding(shuffle=0.5, gray=0.5, turn=0.5) is None
    assert "gray copy" in str(_finding(shuffle=0.5, gray=0.95, turn=0.95))


def _finding(shuffle: float, gray: float, turn: float) -> str | None:
    profiles = tuple(
        Profile(name, name, "", 0.0, (level,), ("",), (near,), near, (0.5,), (), ())
        for name, level, near in (
            ("patch_shuffle", 4.0, Estimate(shuffle, shuffle - 0.02, shuffle + 0.02)),
            ("saturation", 1.0, Estimate(gray, gray - 0.02, gray + 0.02)),
            ("rotation", 90.0, Estimate(turn, turn - 0.02, turn + 0.02)),
        )
    )
    found = Invariance().finding(InvarianceResult(100, 100, 64, 0.5, profiles))
    return None if found is None else found.text


def test_models_are_shown_beside_each_other_and_results_survive_json(
    by_color: InvarianceResult, by_place: InvarianceResult
) -> None:
    assert from_json(InvarianceResult, to_json(by_place)) == by_place
    shown = Invariance().exhibits({"color": by_color, "place": by_place}, None)
    plots = [one for one in shown if isinstance(one, Plot)]
    assert len(plots) == 1 + len(CHANGES)
    assert [trace["name"] for trace in plots[1].figure["data"]] == ["color", "place"]
    assert list(plots[1].figure["data"][0]["x"]) == [0, 10, 30, 60, 90, 180]
    (examples,) = (one for one in shown if isinstance(one, Pictures))
    assert [len(row) for _, row in examples.rows] == [5, 4, 4, 4, 4, 4, 4]
    assert examples.rows[0][1][3].caption == "90°"
    (table,) = (one for one in shown if isinstance(one, Table))
    assert len(table.rows) == 2 * 29 and len(table.rows[0]) == len(table.columns)
