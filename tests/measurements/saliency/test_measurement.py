"""Saliency of networks that are known to look at a blob of their color, or everywhere."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, plain_values, to_json
from unshortcut.data.source import ImageSource
from unshortcut.inference.features import compute_features
from unshortcut.measurements.saliency import Saliency
from unshortcut.measurements.saliency.maps import MAX_SHOWN, SaliencyResult, overlay
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import Note, Pictures, Plot, Table
from unshortcut.measuring.glance import TellingPicture
from unshortcut.measuring.subjects.classifier import fit_classifier
from unshortcut.measuring.subjects.subject import Subject

pytest.importorskip("pytorch_grad_cam")

SIDE, BLOB = 64, 16
NAMES = ("red", "green", "<i>blue</i>")


def _nothing(done: int, total: int) -> None:
    return


def _measured(subject: Subject) -> SaliencyResult:
    return Saliency().measure(subject, _nothing)


def _blobs(count: int = 30) -> ImageSource:
    """A square of a class's color on black, at a random position of a grid of 16."""
    random = np.random.default_rng(0)
    pixels = np.zeros((count, SIDE, SIDE, 3), np.uint8)
    labels = np.arange(count) % 3
    for image, label in zip(pixels, labels, strict=True):
        top, left = random.integers(0, SIDE // BLOB, 2) * BLOB
        image[top : top + BLOB, left : left + BLOB, label] = 255
    return arrays(pixels, labels, NAMES)


class _Colors(nn.Module):
    """Maps of each color and of black, one position per four pixels; the brightest color wins.

    wrong: classes that are mistaken for the next one, and so looked for in its map.
    black: what black speaks for any class, of which a color speaks 0.5 for its own.
    """

    def __init__(self, wrong: tuple[int, ...] = (), black: float = 0.0) -> None:
        super().__init__()
        self.maps = nn.Conv2d(3, 4, 4, 4)
        self.head = nn.Linear(4, 3, bias=False)
        colors = torch.cat([torch.eye(3), -torch.ones(1, 3)])
        weights = torch.cat([torch.eye(3) / 2, torch.full((3, 1), black)], dim=1)
        for one in wrong:
            weights[[one, (one + 1) % 3], one] = torch.tensor([0.0, 1.0])
        with torch.no_grad():
            self.maps.weight.copy_(colors[:, :, None, None].expand(4, 3, 4, 4) / 16)
            self.maps.bias.copy_(torch.tensor([0.0, 0.0, 0.0, 1.0]))  # type: ignore[union-attr]
            self.head.weight.copy_(weights)

    def forward(self, images: Tensor) -> Tensor:
        return 100 * self.head(self.maps(images).relu().mean(dim=(2, 3)))


@pytest.fixture(scope="module")
def sharp() -> SaliencyResult:
    return _measured(subject_of(_Colors(), _blobs()))


def test_a_blob_is_looked_at_and_covered(sharp: SaliencyResult) -> None:
    assert (sharp.layer, sharp.side) == ("maps", SIDE // 4)
    assert all(one.right and not one.empty for one in sharp.decisions) and sharp.empty == 0.0
    # The blob is a sixteenth; enlarging a map moves its border by less than a position.
    assert sharp.coverages.area.value == pytest.approx(1 / 16, rel=0.2)
    assert sharp.coverages.lift.low > 2  # the outline of the blob is all that has edges
    assert len(sharp.decisions) == 30 and len(sharp.shown) == MAX_SHOWN


def test_a_model_that_looks_around_the_blob_covers_the_rest(sharp: SaliencyResult) -> None:
    wide = _measured(subject_of(_Colors(black=1.0), _blobs()))
    assert wide.coverages.area.value == pytest.approx(15 / 16, abs=0.05)
    metrics = Saliency().metrics(wide, sharp)
    assert set(metrics) == set(Saliency().gives)
    assert metrics["saliency_area"].value == wide.coverages.area.value
    assert metrics["saliency_edge_lift"].value < 1 < sharp.coverages.lift.value


def test_the_class_that_is_explained_is_the_decision_though_it_is_wrong() -> None:
    result = _measured(subject_of(_Colors(wrong=(0,)), _blobs()))
    red = [one for one in result.decisions if one.truth == "red"]
    assert {one.decision for one in red} == {"green"}
    # What speaks for green is the red blob, and it is found.
    assert all(one.area == pytest.approx(1 / 16, rel=0.3) for one in red)


def test_at_a_glance_it_shows_what_was_looked_at_in_an_error(sharp: SaliencyResult) -> None:
    wrong = _measured(subject_of(_Colors(wrong=(0,)), _blobs()))
    (telling,) = Saliency().glance({"wrong": wrong, "right": sharp})
    assert isinstance(telling, TellingPicture)
    assert set(telling.pictures) == {"wrong"}
    assert telling.pictures["wrong"].caption == "'red' taken for 'green'"


def test_four_cases_of_two_models(sharp: SaliencyResult) -> None:
    first = _measured(subject_of(_Colors(wrong=(0,)), _blobs()))
    both = _measured(subject_of(_Colors(wrong=(1,)), _blobs()))
    shown = Saliency().exhibits({"a": first, "b": both}, None)
    cases = next(one for one in shown if isinstance(one, Table) and one.folded)
    assert [row[:3] for row in cases.rows] == [
        (case, name, 10)
        for case in ("both right", "only a right", "only b right")
        for name in ("a", "b")
    ]
    (sheet,) = (one for one in shown if isinstance(one, Pictures))
    assert sheet.columns == ("image", "a", "b") and len(sheet.rows) == 12
    assert [title.split(":")[0] for title, _ in sheet.rows].count("only b right") == 4
    assert {(title.split(":")[0], row[1].mark, row[2].mark) for title, row in sheet.rows} == {
        ("both right", "good", "good"),
        ("only a right", "good", "bad"),
        ("only b right", "bad", "good"),
    }
    assert any(isinstance(one, Plot) for one in shown)


def test_one_model_and_three_models_have_their_own_cases(sharp: SaliencyResult) -> None:
    wrong = _measured(subject_of(_Colors(wrong=(0,)), _blobs()))
    for results, cases in (
        ({"a": wrong}, ["right", "wrong"]),
        ({"a": wrong, "b": sharp, "c": sharp}, ["all right", "some right"]),
    ):
        shown = Saliency().exhibits(results, None)
        table = next(one for one in shown if isinstance(one, Table) and one.folded)
        assert list(dict.fromkeys(row[0] for row in table.rows)) == cases
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_empty_maps_are_counted_and_told() -> None:
    class _Against(nn.Module):
        """Decides for what it sees least of, so nothing speaks for the decision."""

        def __init__(self) -> None:
            super().__init__()
            self.maps = nn.AvgPool2d(4)

        def forward(self, images: Tensor) -> Tensor:
            return -self.maps(images).mean(dim=(2, 3))

    result = _measured(subject_of(_Against(), _blobs()))
    assert result.empty == 1.0 and result.coverages.num_images == 0
    assert np.isnan(result.coverages.area.value)
    notes = [one for one in Saliency().exhibits({"a": result}, None) if isinstance(one, Note)]
    assert any(one.warning and "100 % of its maps are empty" in one.text for one in notes)


def test_maps_of_different_sizes_are_marked_as_such(sharp: SaliencyResult) -> None:
    other = replace(sharp, side=7)
    shown = Saliency().exhibits({"a": sharp, "b": other}, None)
    assert any(isinstance(one, Note) and one.warning for one in shown)
    same = Saliency().exhibits({"a": sharp, "b": sharp}, None)
    assert not any(isinstance(one, Note) and one.warning for one in same)


def test_a_linear_probe_is_explained_through_the_network(sharp: SaliencyResult) -> None:
    source = _blobs(60)
    bare = subject_of(None, source, features=_Colors())
    network = _Colors()
    model = replace(bare.model, module=network, features=torch.no_grad()(network))
    features = compute_features(model, source, cache=False)
    fitted = fit_classifier("linear", features, source, "these", None, "mean")
    result = _measured(Subject("bare", model, source, fitted))
    assert "linear probe" in result.explained and result.empty < 0.1
    assert result.coverages.area.value == pytest.approx(1 / 16, rel=0.3)


def test_what_is_no_module_is_not_explained() -> None:
    subject = subject_of(_Colors(), _blobs())
    with pytest.raises(NotApplicable, match="PyTorch module; this model is an object"):
        _measured(replace(subject, model=replace(subject.model, module=None)))


def test_results_are_read_back_without_pictures_in_their_figures(sharp: SaliencyResult) -> None:
    assert from_json(SaliencyResult, to_json(sharp)) == sharp
    assert "data:image" not in str(plain_values(sharp))


def test_an_overlay_is_clear_where_the_map_is_zero() -> None:
    pixels = np.full((8, 8, 3), 100, np.uint8)
    saliency = np.zeros((8, 8), np.float32)
    saliency[4:] = 1
    made = overlay(pixels, saliency)
    assert (made[:4] == 100).all() and made[4:, :, 0].min() > made[4:, :, 2].max()  # warm
