"""Geometry against Pillow, NumPy and torchvision."""

import numpy as np
import PIL.Image
import pytest
import torchvision.transforms.functional as functional
from torchvision.transforms import InterpolationMode

from tests.imaging.pictures import KINDS, difference, pictures
from unshortcut.imaging.geometry import (
    allowed_shrink,
    box_in_smaller,
    crop,
    flip_horizontal,
    flip_vertical,
    resize_box,
    rotate90,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_resized_box_is_torchvisions_antialiased_one(kind: str) -> None:
    rng = np.random.default_rng(1)
    for image in pictures(kind):
        height, width = rng.integers(20, 150), rng.integers(20, 150)
        top, left = rng.integers(0, image.shape[0] - 150), rng.integers(0, image.shape[1] - 150)
        for box in ((0, 0, *image.shape[:2]), (int(top), int(left), int(height), int(width))):
            for size in ((224, 224), (64, 96), (7, 300)):
                reference = functional.resized_crop(
                    PIL.Image.fromarray(image), *box, list(size), InterpolationMode.BILINEAR
                )
                assert difference(resize_box(image, box, *size), reference) < 0.5


def test_a_fractional_box_is_pillows() -> None:
    image = pictures("drawn")[0]
    top, left, height, width = 20.25, 30.5, 120.5, 101.75
    ours = resize_box(image, (top, left, height, width), 40, 30)
    reference = PIL.Image.fromarray(image).resize(
        (30, 40), PIL.Image.Resampling.BILINEAR, box=(left, top, left + width, top + height)
    )
    # Pillow also looks beyond the box; that shows at the border alone.
    assert difference(ours[1:-1, 1:-1], np.asarray(reference)[1:-1, 1:-1]) < 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (2, 3)])
def test_thin_images_can_be_resized(shape: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    reference = PIL.Image.fromarray(image).resize((32, 16), PIL.Image.Resampling.BILINEAR)
    assert difference(resize_box(image, (0, 0, *shape), 16, 32), reference) < 1


def test_a_box_thinner_than_a_pixel_takes_the_pixel_it_lies_in() -> None:
    image = np.arange(5 * 5 * 3, dtype=np.uint8).reshape(5, 5, 3)
    out = resize_box(image, (4.9, 4.9, 0.05, 0.05), 3, 3)
    np.testing.assert_array_equal(out, np.broadcast_to(image[4, 4], (3, 3, 3)))


def test_the_input_may_be_a_view_or_read_only_and_is_not_changed() -> None:
    image = pictures("drawn")[0]
    part = image[10:150:2, 150:10:-1]
    part.flags.writeable = False
    expected = resize_box(np.ascontiguousarray(part), (0, 0, 70, 140), 33, 44)
    np.testing.assert_array_equal(resize_box(part, (0, 0, 70, 140), 33, 44), expected)


def test_flips_and_rotations_equal_numpys() -> None:
    image = pictures("drawn")[0]
    np.testing.assert_array_equal(flip_horizontal(image), np.fliplr(image))
    np.testing.assert_array_equal(flip_vertical(image), np.flipud(image))
    for times in range(4):
        rotated = PIL.Image.fromarray(image).rotate(90 * times, expand=True)
        np.testing.assert_array_equal(rotate90(image, times), np.asarray(rotated))


@pytest.mark.parametrize("box", [(3, 4, 5, 6), (-3, -2, 10, 10), (5, 5, 40, 40), (-5, -5, 60, 60)])
def test_a_crop_beyond_the_image_is_black_there(box: tuple[int, int, int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    reference = functional.crop(PIL.Image.fromarray(image), *box)
    np.testing.assert_array_equal(crop(image, *box), np.asarray(reference))


@pytest.mark.parametrize(("full", "factor"), [((335, 500), 2), ((335, 500), 8), ((41, 1000), 4)])
def test_a_box_keeps_its_position_in_an_image_decoded_smaller(
    full: tuple[int, int], factor: int
) -> None:
    decoded = np.zeros((-(-full[0] // factor), -(-full[1] // factor), 3), np.uint8)
    box = box_in_smaller((16.0, 24.0, 8.0, 12.0), *full, decoded)
    np.testing.assert_allclose(box, np.array([16.0, 24.0, 8.0, 12.0]) / factor)


def test_a_decoding_at_any_other_size_is_taken_as_evenly_reduced() -> None:
    decoded = np.zeros((70, 140, 3), np.uint8)
    assert box_in_smaller((0, 0, 100, 200), 100, 200, decoded) == pytest.approx((0, 0, 70, 140))


def test_decoding_may_be_smaller_down_to_twice_the_result() -> None:
    assert allowed_shrink(896, 1000, 224, 224) == 2.0
    assert allowed_shrink(300, 300, 224, 224) == 1.0
