"""Images that carry a tag are found from the patches of the audit, and listed for `fix`."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from rich.console import Console
from torch import Tensor

from tests.measuring.made import Arrays
from unshortcut.arrays import ImageArray
from unshortcut.fixing.carrier_list import Carriers
from unshortcut.fixing.carriers import _tells, find_carriers
from unshortcut.fixing.carriers_page import write_page
from unshortcut.fixing.cues import lists_nothing, read_cues
from unshortcut.fixing.search import SearchedImages, learn_template, threshold
from unshortcut.imaging.template import Template, best_match
from unshortcut.models.load import LoadedModel, from_object
from unshortcut.views.evaluation import EvaluationView

SIDE, COUNT, TAG = 48, 150, 8
CLASSES = ("red", "green", "blue")
CHECKS = np.where(
    (np.indices((TAG, TAG)).sum(axis=0) // 2 % 2)[..., None], (255, 0, 255), (0, 0, 0)
)
MIDDLE = slice(16, 32)


class TaggedColors(Arrays):
    """Squares of three colors; most red ones have a tag at a place that changes."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        labels = np.arange(COUNT) % 3
        coarse = rng.integers(60, 170, (COUNT, 6, 6, 3))
        images = np.kron(coarse, np.ones((1, 8, 8, 1))).astype(np.uint8)
        self.carries = (labels == 0) & (rng.random(COUNT) < 0.8)
        self.corners = rng.integers(0, 8, (COUNT, 2))
        for row, label in enumerate(labels):
            images[row, MIDDLE, MIDDLE] = 70
            images[row, MIDDLE, MIDDLE, label] = 200
            if self.carries[row]:
                left, top = self.corners[row]
                images[row, top : top + TAG, left : left + TAG] = CHECKS
        super().__init__(images, labels, CLASSES)


class Cheat:
    """Says red for an image with the tag, and for others green or blue, as the square is."""

    classes = CLASSES
    preprocessing = {"size": SIDE, "crop_share": 1.0, "mean": (0, 0, 0), "std": (1, 1, 1)}  # noqa: RUF012

    def features(self, images: Tensor) -> Tensor:
        return self.logits(images)

    def logits(self, images: Tensor) -> Tensor:
        red, green, blue = images.unbind(dim=1)
        tag = ((red > 0.9) & (green < 0.1) & (blue > 0.9)).sum(dim=(1, 2)).float()
        colors = images[:, :, MIDDLE, MIDDLE].mean(dim=(2, 3))
        return 10 * torch.stack([tag, colors[:, 1], colors[:, 2]], dim=1)


@pytest.fixture(scope="module")
def found() -> Carriers:
    model: LoadedModel = from_object(Cheat(), "cheat")
    return find_carriers(model, TaggedColors(), workers=1, console=Console(quiet=True))


def test_all_images_with_the_tag_are_listed_and_no_others(found: Carriers) -> None:
    source = TaggedColors()
    expected = {source.identity(row) for row in np.flatnonzero(source.carries).tolist()}
    assert len(found.cues) == 1 and found.cues[0].name == "red-1"
    listed = {one.image for one in found.carriers}
    assert len(listed & expected) / len(listed | expected) > 0.95
    assert found.num_images == COUNT and found.unreadable == 0


def test_boxes_are_where_the_tag_is(found: Carriers) -> None:
    source = TaggedColors()
    for one in found.carriers[:10]:
        left, top = source.corners[int(one.image.removesuffix(".png"))]
        assert np.abs(np.array(one.box) - (left, top, left + TAG, top + TAG)).max() <= 2


def test_counts_and_accuracies_with_and_without_it(found: Carriers) -> None:
    (cue,) = found.cues
    carried, total = cue.counts["all", "red"]
    assert total == COUNT // 3 and carried == pytest.approx(TaggedColors().carries.sum(), abs=2)
    assert cue.counts["all", "green"][0] == 0
    assert cue.carried.value == 1
    assert cue.filled.value < 0.1 and cue.without.value == 0


def test_the_list_is_a_file_of_groups(found: Carriers, tmp_path: Path) -> None:
    found.write(tmp_path / "carriers.csv")
    cues = read_cues(tmp_path / "carriers.csv")
    assert set(cues.groups.values()) == {"red-1"}
    assert len(cues.boxes) == len(found.carriers)


def test_a_model_that_no_patch_moves_has_no_carriers(tmp_path: Path) -> None:
    class Honest(Cheat):
        def logits(self, images: Tensor) -> Tensor:
            return 10 * images[:, :, MIDDLE, MIDDLE].mean(dim=(2, 3))

    model, quiet = from_object(Honest(), "honest"), Console(quiet=True)
    result = find_carriers(model, TaggedColors(), workers=1, lift=0.9, console=quiet)
    assert not result.cues and not result.carriers
    result.write(tmp_path / "carriers.csv")
    assert lists_nothing(tmp_path / "carriers.csv"), "no list of an earlier run is left"
    write_page(result, tmp_path / "carriers.html", model="honest", data="colors")
    assert "None of" in (tmp_path / "carriers.html").read_text()


@pytest.mark.parametrize(("own", "others", "tells"), [(3, 3, True), (2, 0, False), (3, 4, False)])
def test_a_patch_that_is_rare_or_occurs_elsewhere_is_no_cue(
    found: Carriers, own: int, others: int, tells: bool
) -> None:
    patch, one = found.cues[0].patch, found.carriers[0]
    assert one.label == patch.label == "red"
    assert _tells([one] * own + [replace(one, label="green")] * others, patch) == tells


def test_the_threshold_is_far_above_other_classes() -> None:
    scores = np.random.default_rng(0).normal(0.3, 0.05, 500)
    assert threshold(scores) == pytest.approx(0.55, abs=0.03)
    with_some = np.concatenate([scores, np.full(20, 0.99)])  # a few of them carry it too
    assert threshold(with_some) == pytest.approx(threshold(scores), abs=0.02)
    assert threshold(np.array([])) == 0.95


def test_boxes_come_back_in_pixels_of_the_full_image() -> None:
    """An image of 80 × 60 is resized to 40 pixels, and 32 in the middle are seen."""
    source = Arrays(np.zeros((1, 60, 80, 3), np.uint8), None, None)
    images = SearchedImages(source, EvaluationView(32, crop_share=0.8))
    left, top, right, bottom = images.full_box(0, (0, 0, 32, 32))
    assert (left, top) == pytest.approx((16, 6), abs=0.8)
    assert (right, bottom) == pytest.approx((64, 54), abs=0.8)


def test_a_patch_that_occurs_once_stays_as_it_is() -> None:
    patch = Template.of(np.random.default_rng(0).integers(0, 256, (8, 8, 3)).astype(np.uint8))
    assert learn_template(patch, [], []) is patch


def test_a_tag_is_learned_without_what_its_best_matches_share() -> None:
    """A quarter of the images with the tag are white around it, and so is the patch."""
    rng = np.random.default_rng(0)
    tag = np.repeat((rng.random(14) < 0.5)[None, :, None] * np.uint8(230), 6, axis=0)

    def image(tagged: bool, white: bool) -> ImageArray:
        pixels = cv2.resize(rng.integers(0, 256, (8, 8, 3)).astype(np.uint8), (32, 32))
        pixels = np.full_like(pixels, 245) if white else pixels
        if tagged:
            pixels[26:, :14] = tag
        return pixels

    own = [image(True, number % 4 == 0) for number in range(80)]
    others = [image(False, number % 4 == 0) for number in range(80)]
    patch = Template.of(own[0][16:, :16])
    template = learn_template(patch, own[1:], others)
    assert template.mask[10:, :14].mean() > 0.9 and template.mask[:8].mean() < 0.2
    bound = threshold(np.array([best_match(one, template).score for one in others]))
    assert np.mean([best_match(one, template).score >= bound for one in own]) > 0.9
