"""Boxes and masks land where the same augmentation puts what they mark in the image."""

from typing import Any

import numpy as np
import pytest
import torch
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.augmentations.augmentation import Augmentation, make_augmentation
from unshortcut.augmentations.rand_augment import RandAugment, Step
from unshortcut.data.regions import IGNORED, MaskArray
from unshortcut.imaging.boxes import clip_boxes
from unshortcut.randomness import generator

HEIGHT, WIDTH = 36, 48
EXACT: list[tuple[str, dict[str, Any]]] = [
    ("horizontal_flip", {}),
    ("vertical_flip", {}),
    ("rotation", {}),
    ("center_crop", {"size": [30, 60]}),
    ("random_crop", {"size": 28, "padding": 5}),
    ("first_of", {"augmentations": [{"name": "rotation"}, {"name": "horizontal_flip"}]}),
    ("grayscale", {"p": 1.0}),
]
RESAMPLED: list[tuple[str, dict[str, Any]]] = [
    ("random_resized_crop", {"size": [31, 44], "scale": [0.3, 1.0]}),
    ("resize", {"size": 25}),
    ("resize", {"size": [50, 51]}),
    ("resize_shortest", {"sizes": [20, 30, 50], "longest": 60}),
    ("random_scale_crop", {"size": [40, 33]}),
    ("random_scale_crop", {"size": 24, "base": 30}),
]


def drawn(rng: np.random.Generator) -> tuple[ImageArray, FloatArray, MaskArray]:
    """A white rectangle on gray, its box (1, 4) and the mask, 1 in it and 0 around it."""
    x0, y0 = rng.integers((WIDTH - 14, HEIGHT - 12))
    x1, y1 = x0 + rng.integers(10, 14), y0 + rng.integers(8, 12)
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[y0:y1, x0:x1] = 1
    image = np.where(mask[..., None] == 1, 255, 85).astype(np.uint8).repeat(3, axis=2)
    return image, np.array([[x0, y0, x1, y1]], np.float32), mask


def seen(image: ImageArray) -> MaskArray:
    """Which class each pixel shows: black is outside of the image."""
    gray = image[..., 0].astype(int)
    return np.where(gray > 170, 1, np.where(gray < 42, IGNORED, 0)).astype(np.uint8)


def extent(mask: MaskArray) -> list[int]:
    """The box around the pixels of class 1."""
    rows, columns = np.nonzero(mask == 1)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def moved(augmentation: Augmentation, seed: int) -> tuple[ImageArray, FloatArray, MaskArray]:
    rng = generator(seed, "regions")
    image, boxes, mask = drawn(rng)
    params = augmentation.sample(rng, HEIGHT, WIDTH)
    out = augmentation.apply(image, params)
    boxes = augmentation.apply_boxes(boxes, params, HEIGHT, WIDTH)
    assert boxes.dtype == np.float32
    return out, clip_boxes(boxes, *out.shape[:2]), augmentation.apply_mask(mask, params)


@pytest.mark.parametrize(("name", "settings"), EXACT)
def test_moving_pixels_moves_boxes_and_masks_exactly(name: str, settings: dict[str, Any]) -> None:
    augmentation = make_augmentation(name, settings)
    for seed in range(30):
        out, boxes, mask = moved(augmentation, seed)
        np.testing.assert_array_equal(mask, seen(out))
        if (mask == 1).any():
            np.testing.assert_array_equal(boxes[0], extent(mask))
        else:
            assert (boxes[0, 2:] - boxes[0, :2]).min() == 0


@pytest.mark.parametrize(("name", "settings"), RESAMPLED)
def test_resizing_moves_boxes_and_masks_to_within_a_pixel(
    name: str, settings: dict[str, Any]
) -> None:
    augmentation = make_augmentation(name, settings)
    differing, edges = 0, 0
    for seed in range(40):
        out, boxes, mask = moved(augmentation, seed)
        assert mask.shape == out.shape[:2]
        shown = seen(out)
        np.testing.assert_array_equal(mask == IGNORED, shown == IGNORED)
        if (shown == 1).any():
            np.testing.assert_allclose(boxes[0], extent(shown), atol=0.75)
            differing += (mask != shown).sum()
            edges += 2 * sum(extent(shown)[2:]) - 2 * sum(extent(shown)[:2])
    # The filter's half-way line and the nearest center differ by chance, by half a pixel's shift
    # a quarter of the edge would differ.
    assert differing < 0.12 * edges


@pytest.mark.parametrize(
    ("operation", "amount"),
    [
        ("rotate", 30.0),
        ("rotate", -21.0),
        ("shear_x", 0.3),
        ("shear_y", -0.25),
        ("translate_x", 0.2),
        ("translate_y", -0.13),
        ("solarize_add", 0.0),
    ],
)
def test_boxes_and_masks_follow_rand_augment(operation: str, amount: float) -> None:
    augmentation = RandAugment(fill=(0, 0, 0))
    for seed in range(20):
        image, boxes, mask = drawn(generator(seed))
        steps = (Step(operation, amount, False),)
        shown = seen(augmentation.apply(image, steps))
        found = augmentation.apply_mask(mask, steps)
        assert (found != shown).mean() < 0.03
        box = clip_boxes(augmentation.apply_boxes(boxes, steps, HEIGHT, WIDTH), HEIGHT, WIDTH)
        if (shown == 1).sum() > 60:  # so much of it that its corners are seen
            np.testing.assert_allclose(box[0], extent(found), atol=1.5)


def test_two_moves_of_rand_augment_are_made_one_after_the_other() -> None:
    image, boxes, mask = drawn(generator(3))
    steps = (Step("rotate", 20.0, False), Step("translate_x", 0.1, False))
    augmentation = RandAugment(fill=(0, 0, 0))
    shown = seen(augmentation.apply(image, steps))
    assert (augmentation.apply_mask(mask, steps) != shown).mean() < 0.03
    box = augmentation.apply_boxes(boxes, steps, HEIGHT, WIDTH)
    np.testing.assert_allclose(clip_boxes(box, HEIGHT, WIDTH)[0], extent(shown), atol=1.5)


BOXES = np.array([[3, 4, 20, 30], [0, 0, 48, 36], [40.5, 2.25, 47, 9]], np.float32)
THEIRS: list[tuple[str, dict[str, Any], Any]] = [
    ("horizontal_flip", {"p": 1.0}, lambda x, params: functional.horizontal_flip(x)),
    ("vertical_flip", {"p": 1.0}, lambda x, params: functional.vertical_flip(x)),
    ("center_crop", {"size": 30}, lambda x, params: functional.center_crop(x, [30, 30])),
    (
        "random_crop",
        {"size": 20, "padding": 0},
        lambda x, params: functional.crop(x, *params, 20, 20),
    ),
    (
        "rotation",
        {"angles": [90], "p": 1.0},
        lambda x, params: functional.rotate(x, params, expand=True),
    ),
    ("resize", {"size": [50, 40]}, lambda x, params: functional.resize(x, [50, 40])),
    (
        "random_resized_crop",
        {"size": 24},
        lambda x, params: functional.resized_crop(x, *params[:4], [24, 24]),
    ),
]


@pytest.mark.parametrize(("name", "settings", "reference"), THEIRS)
def test_boxes_are_torchvisions(name: str, settings: dict[str, Any], reference: Any) -> None:
    augmentation = make_augmentation(name, settings)
    theirs = tv_tensors.BoundingBoxes(
        torch.from_numpy(BOXES),
        format=tv_tensors.BoundingBoxFormat.XYXY,
        canvas_size=(HEIGHT, WIDTH),
        clamping_mode=None,
    )
    for seed in range(5):
        params = augmentation.sample(generator(seed), HEIGHT, WIDTH)
        ours = augmentation.apply_boxes(BOXES, params, HEIGHT, WIDTH)
        ours = clip_boxes(ours, *augmentation.output_size(params, HEIGHT, WIDTH))
        expected = reference(theirs, params)
        np.testing.assert_allclose(
            ours, functional.clamp_bounding_boxes(expected, clamping_mode="soft"), atol=1e-4
        )


@pytest.mark.parametrize(("name", "settings", "reference"), THEIRS[:5])
def test_moved_masks_are_torchvisions(name: str, settings: dict[str, Any], reference: Any) -> None:
    augmentation = make_augmentation(name, settings)
    mask = np.random.default_rng(0).integers(0, 5, (HEIGHT, WIDTH), dtype=np.uint8)
    params = augmentation.sample(generator(0), HEIGHT, WIDTH)
    expected = reference(tv_tensors.Mask(torch.from_numpy(mask)[None]), params)
    np.testing.assert_array_equal(augmentation.apply_mask(mask, params), expected[0].numpy())


@pytest.mark.parametrize("size", [(20, 30), (50, 70), (36, 47)])
def test_resized_masks_are_torchvisions_with_centered_pixels(size: tuple[int, int]) -> None:
    """Its `Mask` takes pixels by their corners; its `nearest-exact` for images by their centers."""
    mask = np.random.default_rng(0).integers(0, 5, (HEIGHT, WIDTH), dtype=np.uint8)
    resize = make_augmentation("resize", {"size": size})
    expected = functional.resize(
        tv_tensors.Image(mask[None]), list(size), InterpolationMode.NEAREST_EXACT
    )
    params = resize.sample(generator(0), HEIGHT, WIDTH)
    np.testing.assert_array_equal(resize.apply_mask(mask, params), expected[0].numpy())
