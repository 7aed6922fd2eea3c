"""A pipeline moves boxes and masks step by step, drops boxes and refuses what loses them."""

import io
from typing import Any

import numpy as np
import PIL.Image
import pytest

from unshortcut.augmentations.augmentation import AUGMENTATIONS, Augmentation, Pipeline
from unshortcut.augmentations.augmentation import make_augmentation as make
from unshortcut.augmentations.center_crop import CenterCrop
from unshortcut.augmentations.horizontal_flip import HorizontalFlip
from unshortcut.augmentations.patch_tiling import PatchTiling
from unshortcut.augmentations.rand_augment import RandAugment, Step
from unshortcut.augmentations.random_crop import RandomCrop
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.augmentations.rotation import Rotation
from unshortcut.data.decode import EncodedImage
from unshortcut.data.regions import IGNORED, Regions
from unshortcut.discovery import find_all
from unshortcut.errors import UsageError
from unshortcut.randomness import generator


def boxes_of(*boxes: tuple[float, float, float, float]) -> Regions:
    """Boxes labeled 0, 1, 2, …, of which the odd ones are ignored."""
    labels = np.arange(len(boxes))
    return Regions.of_boxes(np.array(boxes, np.float32), labels, labels % 2 == 1)


def test_boxes_are_clipped_and_those_that_are_hardly_left_are_dropped_with_their_labels() -> None:
    regions = boxes_of(
        (0, 0, 10, 10), (15, 15, 30, 25), (6, 10, 26, 20), (4, 10, 14, 20), (9.2, 12, 10.9, 20)
    )
    pipeline = Pipeline([CenterCrop(20)])  # 10 to 30 of 40
    out = pipeline.apply_regions(regions, [None], 40, 40)
    assert out.boxes is not None and out.box_labels is not None and out.ignored is not None
    assert out.boxes.tolist() == [[5, 5, 20, 15], [0, 0, 16, 10], [0, 0, 4, 10]]
    assert out.box_labels.tolist() == [1, 2, 3]  # the first is outside, the last too narrow
    assert out.ignored.tolist() == [True, False, True]
    half = pipeline.apply_regions(regions, [None], 40, 40, min_visible=0.5)
    assert half.box_labels is not None and half.box_labels.tolist() == [1, 2]


def test_a_share_of_exactly_the_minimum_is_kept_and_measured_on_the_result() -> None:
    """The box is reduced to a quarter of its area first, which takes nothing from it."""
    pipeline = Pipeline([Resize((20, 20)), RandomCrop(10, padding=0)])
    sampled = [pipeline.augmentations[0].sample(generator(0), 40, 40), (0, 5)]
    out = pipeline.apply_regions(boxes_of((4, 0, 12, 8), (0, 0, 10.5, 8)), sampled, 40, 40)
    assert out.boxes is not None and out.boxes.tolist() == [[0, 0, 1, 4]]


def test_what_a_crop_has_cut_off_does_not_come_back() -> None:
    """A box reaches over the border of a crop, whose content is then shifted inwards."""
    pipeline = Pipeline([CenterCrop(20), RandAugment()])
    shift = (Step("translate_x", -0.5, False),)  # to the right by 10
    out = pipeline.apply_regions(boxes_of((4, 10, 18, 30)), [None, shift], 40, 40)
    assert out.boxes is not None and out.boxes.tolist() == [[10, 0, 18, 20]]


def test_the_size_of_each_step_is_that_of_the_step_before() -> None:
    pipeline = Pipeline([Rotation((90,), p=1.0), HorizontalFlip(p=1.0)])
    mask = np.arange(12, dtype=np.uint8).reshape(3, 4)
    regions = Regions.of_boxes(np.array([[0, 0, 2, 1]]), np.array([7]), mask=mask)
    out = pipeline.apply_regions(regions, [90, True], 3, 4)
    assert out.mask is not None and out.boxes is not None
    np.testing.assert_array_equal(out.mask, np.rot90(mask)[:, ::-1])
    x0, y0, x1, y1 = out.boxes[0].astype(int)
    assert sorted(out.mask[y0:y1, x0:x1].ravel().tolist()) == [0, 1]


def test_images_without_boxes_or_masks_stay_without() -> None:
    pipeline = Pipeline([CenterCrop(4)])
    assert pipeline.apply_regions(Regions(), [None], 8, 8) == Regions()
    only = pipeline.apply_regions(Regions(mask=np.ones((2, 2), np.uint8)), [None], 2, 2)
    assert only.boxes is None and only.mask is not None
    assert sorted(set(only.mask.ravel().tolist())) == [1, IGNORED]
    none = pipeline.apply_regions(boxes_of(), [None], 8, 8)
    assert none.boxes is not None and none.boxes.shape == (0, 4)


@pytest.mark.parametrize(
    ("first", "settings"),
    [
        ("random_resized_crop", {"size": 30}),
        ("random_scale_crop", {"size": 40, "ratio": [0.1, 0.2]}),
        ("resize", {"size": 40}),
        ("resize_shortest", {"sizes": [32, 40]}),
    ],
)
def test_regions_stay_in_full_pixels_if_the_image_is_decoded_smaller(
    first: str, settings: dict[str, Any]
) -> None:
    mask = np.zeros((300, 400), np.uint8)
    mask[60:180, 100:300] = 1
    file = io.BytesIO()
    PIL.Image.fromarray(mask * 255).convert("RGB").save(file, "JPEG", quality=95)
    image = EncodedImage(file.getvalue())
    regions = Regions.of_boxes(np.array([[100, 60, 300, 180]]), np.array([0]), mask=mask)
    pipeline = Pipeline([make(first, settings), HorizontalFlip(p=1.0)])
    for seed in range(5):
        sampled = pipeline.sample(generator(seed), 300, 400)
        pixels = image.pixels(pipeline.shrink(sampled))
        assert seed != 0 or pixels.shape[0] < 300 or first == "random_resized_crop"
        out = pipeline.apply_regions(regions, sampled, 300, 400, min_visible=0)
        shown = pipeline.apply(pixels, sampled)[..., 0] > 127
        assert out.mask is not None and out.boxes is not None
        assert ((out.mask == 1) != shown).mean() < 0.04
        rows, columns = np.nonzero(shown)
        around = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        np.testing.assert_allclose(out.boxes[0], around, atol=1)


def test_augmentations_that_lose_the_layout_are_refused() -> None:
    found = find_all("unshortcut.augmentations", Augmentation)
    losing = {name for name, kind in found.items() if not kind.keeps_layout}
    assert losing == {"patch_tiling", "texture_synthesis", "timm_rand_augment"}
    Pipeline([HorizontalFlip(), RandomResizedCrop()]).check_regions()
    with pytest.raises(UsageError, match="'patch_tiling' cannot be used with boxes or masks"):
        Pipeline([HorizontalFlip(), PatchTiling()]).check_regions()
    nested = AUGMENTATIONS.build(
        {"name": "first_of", "augmentations": [{"name": "texture_synthesis"}]}
    )
    with pytest.raises(UsageError, match="'texture_synthesis' cannot"):
        Pipeline([nested]).check_regions()
