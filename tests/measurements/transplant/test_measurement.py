"""Transplants between images of models that are known to read a tag, a border, or the whole."""

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, plain_values, to_json
from unshortcut.data.shapes import Shapes
from unshortcut.inference.features import compute_features
from unshortcut.measurements.transplant import Transplant
from unshortcut.measurements.transplant.transplants import TransplantResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Pictures, Plot, Table
from unshortcut.measuring.glance import Axis, TellingPicture
from unshortcut.measuring.subjects.classifier import fit_classifier
from unshortcut.measuring.subjects.subject import Subject

SIDE = 32
COLORS = ((255, 0, 0), (0, 255, 0), (0, 0, 255))
NAMES = ("cat", "<b>dog</b>", "owl")
Images = NDArray[np.uint8]


def _nothing(done: int, total: int) -> None:
    return


def _measured(subject: Subject) -> TransplantResult:
    return Transplant().measure(subject, _nothing)


def _noise(count: int) -> tuple[Images, NDArray[np.int64]]:
    pixels = np.random.default_rng(0).integers(60, 196, (count, SIDE, SIDE, 3), dtype=np.uint8)
    return pixels, np.arange(count) % 3


def _tagged(count: int = 60) -> tuple[Images, NDArray[np.int64]]:
    """A small square at the bottom left, of a color a class."""
    pixels, labels = _noise(count)
    for image, label in zip(pixels, labels, strict=True):
        image[25:29, 2:6] = COLORS[label]
    return pixels, labels


class _ReadsTag(nn.Module):
    def forward(self, images: Tensor) -> Tensor:
        return 20 * images[:, :, 25:29, 2:6].mean(dim=(2, 3))


class _ReadsBrightness(nn.Module):
    """Dark, medium or bright as a whole."""

    def forward(self, images: Tensor) -> Tensor:
        mean = images.mean(dim=(1, 2, 3))[:, None]
        return -200 * (mean - torch.tensor([[0.25, 0.5, 0.75]])) ** 2


@pytest.fixture(scope="module")
def tags() -> TransplantResult:
    return _measured(subject_of(_ReadsTag(), arrays(*_tagged(), NAMES)))


def test_a_model_that_reads_a_tag_follows_it_always(tags: TransplantResult) -> None:
    result = tags
    assert result.follow.value == 1.0 and result.control.value == 0.0
    assert [one.name for one in result.classes] == list(NAMES)
    for one in result.classes:
        assert one.follows.patch == one.follows.mates == 1.0
        assert one.position == "bottom left" and one.at_position == one.donors == 10
        assert (one.low, one.high) == pytest.approx((0.722, 1.0), abs=1e-3)  # Wilson, 10 of 10
    for patch in result.patches:  # a square that has the whole tag
        left, top, right, bottom = np.array(patch.box) * SIDE
        assert left <= 2 and right >= 6 and top <= 25 and bottom >= 29
    positions = np.array(result.positions)
    assert positions[6:, :2].max() == 1.0
    assert positions[:5].max() == positions[:, 4:].max() == 0.0


def test_a_quick_audit_finds_the_tag_with_a_third_of_the_patches() -> None:
    subject = subject_of(_ReadsTag(), arrays(*_tagged(), NAMES), profile="quick")
    result = _measured(subject)
    assert (len(result.patches), result.num_hosts) == (30, 4)
    assert result.follow.value == 1.0 and result.control.value == 0.0
    finding = Transplant().finding(result)
    assert finding is not None and "bottom left" in finding.text and finding.weight == 1.0
    passes = Transplant().passes(subject)
    assert passes.changed == 30 * (16 + 5) + 30 * 4 * 3


def test_a_model_that_looks_at_the_whole_follows_no_patch() -> None:
    pixels, labels = _noise(60)
    shifted = pixels.astype(int) + np.array([-64, 0, 64])[labels][:, None, None, None]
    source = arrays(np.clip(shifted, 0, 255).astype(np.uint8), labels, NAMES)
    result = _measured(subject_of(_ReadsBrightness(), source))
    assert result.num_right == 60 and result.follow.value == 0.0 and result.winners == ()
    assert Transplant().finding(result) is None
    axis, telling = Transplant().glance({"m": result})
    assert isinstance(axis, Axis) and isinstance(telling, TellingPicture)
    assert axis.positions["m"].value == 1.0 and axis.positions["m"].low < 1.0
    assert telling.pictures == {} and telling.missing == "no patch changes decisions"


class _OneShortcut(nn.Module):
    """Brightness decides, but for a magenta tag, which is class 1."""

    def forward(self, images: Tensor) -> Tensor:
        corner = images[:, :, 2:6, 26:30].mean(dim=(2, 3))
        tag = corner[:, 0] + corner[:, 2] - 2 * corner[:, 1]
        logits = _ReadsBrightness()(images)
        return logits + torch.stack([tag * 0, 40 * tag.clamp(min=0), tag * 0], dim=1)


def _with_one_shortcut() -> Subject:
    pixels, labels = _noise(60)
    shifted = pixels.astype(int) + np.array([-64, 0, 64])[labels][:, None, None, None]
    planted = np.clip(shifted, 0, 255).astype(np.uint8)
    planted[labels == 1, 2:6, 26:30] = (255, 0, 255)
    return subject_of(_OneShortcut(), arrays(planted, labels, NAMES))


@pytest.fixture(scope="module")
def one() -> TransplantResult:
    return _measured(_with_one_shortcut())


def test_the_class_with_a_tag_is_named_and_its_patches_are_shown(one: TransplantResult) -> None:
    measurement, result = Transplant(), one
    dog = NAMES[1]
    strongest = result.strongest()
    assert strongest is not None and strongest.name == dog
    assert [each.follows.patch for each in result.classes] == [0.0, 1.0, 0.0]
    assert result.follow.value == pytest.approx(1 / 3)
    finding = measurement.finding(result)
    assert finding is not None and finding.weight == 1.0
    assert finding.text == (
        "changes its decision to the class of a pasted patch in 33 % of images "
        f"(class '{dog}': 100 %, mostly from one position: top right), "
        "a sign that it relies on a tag or watermark"
    )
    assert {shown.patch.label for shown in result.winners} == {dog} and len(result.winners) == 3
    assert finding.brief == f"seems to rely on a tag or watermark for class '{dog}'"
    axis, telling = measurement.glance({"m": result})
    assert isinstance(axis, Axis) and isinstance(telling, TellingPicture)
    assert axis.positions["m"].value == pytest.approx(2 / 3)
    assert telling.pictures["m"].caption == f"'{dog}', followed in 100 % of other images"
    metrics = measurement.metrics(result, None)
    assert set(metrics) == set(measurement.gives)
    assert metrics["transplant_worst_class"].value == 1.0
    assert dog in metrics["transplant_worst_class"].note
    assert metrics["transplant_follow"].value == pytest.approx(1 / 3)


def test_models_are_shown_side_by_side(tags: TransplantResult, one: TransplantResult) -> None:
    shown = Transplant().exhibits({"tags": tags, "one": one}, None)
    tables = [one for one in shown if isinstance(one, Table)]
    assert [row[0] for row in tables[0].rows] == ["tags", "one"]
    assert tables[0].rows[1][3] == NAMES[1] and len(tables[1].rows) == 6
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    pictures = [one for one in shown if isinstance(one, Pictures)]
    assert [len(one.rows) for one in pictures] == [8, 3]
    assert all(len(row) == 3 for one in pictures for _, row in one.rows)
    plots = [one for one in shown if isinstance(one, Plot)]
    bars = {
        one["name"]: dict(zip(one["x"], one["y"], strict=True)) for one in plots[0].figure["data"]
    }
    assert bars["one"] == {NAMES[1]: 1.0, NAMES[0]: 0.0, NAMES[2]: 0.0}
    assert len(plots) == 3  # and a map of positions for each model


class _ReadsFrame(nn.Module):
    """The outermost pixels, all of them."""

    def forward(self, images: Tensor) -> Tensor:
        inner = images[:, :, 1:-1, 1:-1].sum(dim=(2, 3))
        return 20 * (images.sum(dim=(2, 3)) - inner) / (4 * SIDE - 4)


def test_a_border_is_cut_out_as_a_whole() -> None:
    pixels, labels = _noise(30)
    for image, label in zip(pixels, labels, strict=True):
        inner = image[1:-1, 1:-1].copy()
        image[:] = COLORS[label]
        image[1:-1, 1:-1] = inner
    result = _measured(subject_of(_ReadsFrame(), arrays(pixels, labels, NAMES)))
    assert result.follow.value == 1.0
    assert {one.position for one in result.classes} == {"all around the edge"}


def test_a_class_that_any_paste_leads_to_is_no_shortcut() -> None:
    """Seams make this model decide for class 0, whatever is pasted."""

    def seams(images: Tensor) -> Tensor:
        level = images.mean(dim=(1, 2, 3))
        spread = images.std(dim=(1, 2, 3))
        return torch.stack([1000 * (spread - 1e-3), 0.5 - level, level - 0.5], dim=1)

    flat = np.linspace(10, 240, 60).round().astype(np.uint8)
    pixels = np.repeat(flat, SIDE * SIDE * 3).reshape(60, SIDE, SIDE, 3)
    pixels[:20, ::2] = 255  # stripes are class 0
    labels = np.array([0] * 20 + [1] * 10 + [2] * 30)
    labels[20:] = np.where(flat[20:] < 128, 1, 2)
    result = _measured(subject_of(seams, arrays(pixels, labels, NAMES)))
    striped = next(one for one in result.classes if one.name == NAMES[0])
    assert striped.follows.patch == 1.0 and striped.follows.control > 0.9
    assert result.control.value == pytest.approx(striped.follows.control / 3)
    assert Transplant().finding(result) is None


def test_a_readout_decides_as_well_as_a_head() -> None:
    source = arrays(*_tagged(), NAMES)
    bare = subject_of(None, source, features=_ReadsTag())
    features = compute_features(bare.model, source, cache=False)
    fitted = fit_classifier("linear", features, source, "these", None, "mean")
    result = _measured(Subject("bare", bare.model, source, fitted))
    assert result.follow.value == 1.0 and {one.position for one in result.classes} == {
        "bottom left"
    }


def test_a_class_of_one_image_has_nothing_to_compare_its_place_with() -> None:
    pixels, labels = _tagged(20)
    kept = np.concatenate([np.flatnonzero(labels > 0), [0]])
    result = _measured(subject_of(_ReadsTag(), arrays(pixels[kept], labels[kept], NAMES)))
    cat = next(one for one in result.classes if one.name == "cat")
    assert cat.donors == 1 and cat.follows.patch == 1.0 and math.isnan(cat.follows.mates)
    finding = Transplant().finding(result)
    assert finding is not None and "'cat'" not in finding.text  # one patch is not enough


def test_a_model_that_is_never_right_has_nothing_to_transplant() -> None:
    pixels, labels = _tagged(12)
    with pytest.raises(NotApplicable, match="of two classes"):
        _measured(subject_of(_ReadsTag(), arrays(pixels, (labels + 1) % 3, NAMES)))


def test_results_are_read_back_and_progress_ends_at_the_total() -> None:
    reported: list[tuple[int, int]] = []
    result = Transplant().measure(
        _with_one_shortcut(), lambda done, total: reported.append((done, total))
    )
    again = from_json(TransplantResult, to_json(result))
    assert again == result
    assert "data:image" not in str(plain_values(result))
    assert reported[-1] == (30 * (54 + 3 * 12),) * 2
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)


def _planted(images: Shapes, label: int) -> Images:
    """Shapes, and a small tag in the corner of one class."""
    pixels = np.stack([images.image(at).pixels() for at in range(len(images))])
    pixels[images.shape_labels == label, -6:-2, 2:8] = (250, 40, 200)
    return pixels


def test_a_trained_network_gives_away_the_tag_that_was_planted() -> None:
    tagged = 3
    train, test = (Shapes("conflict", size=SIDE, count=800, seed=seed) for seed in (0, 1))
    torch.manual_seed(0)
    widths = ((3, 16), (16, 32), (32, 64))
    stages = [
        part
        for taken, given in widths
        for part in (nn.Conv2d(taken, given, 3, 2, 1), nn.BatchNorm2d(given), nn.ReLU())
    ]
    network = nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 8))
    seen = torch.from_numpy(_planted(train, tagged)).permute(0, 3, 1, 2).float() / 255
    labels = torch.from_numpy(train.shape_labels)
    optimizer = torch.optim.AdamW(network.parameters(), 5e-3)
    for _ in range(10):
        for rows in torch.randperm(len(seen)).split(50):
            loss = nn.functional.cross_entropy(network(seen[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    subject = subject_of(network, arrays(_planted(test, tagged), test.shape_labels, test.classes))
    result = _measured(subject)
    assert test.classes is not None
    name = test.classes[tagged]
    strongest = result.strongest()
    assert strongest is not None and strongest.name == name and strongest.position == "bottom left"
    others = [one.follows.lift for one in result.classes if one.name != name]
    assert strongest.follows.lift > 2 * max(others) and strongest.follows.mates > 0.5
    finding = Transplant().finding(result)
    assert finding is not None and name in finding.text and "relies on a tag" in finding.text
    assert all(one.patch.label == name for one in result.winners[:3])
