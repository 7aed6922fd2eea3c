"""The region that a decision hangs on, and what is put in its place."""

import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.measurements.transplant.regions import drops, filled, largest, regions


def _noise(count: int, side: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def test_a_filling_is_the_weighted_mean_of_what_is_around() -> None:
    (image,) = _noise(1, 32)
    region = regions(32)[10]
    kept = (~region.mask).astype(np.float64)
    # At 32 pixels nothing is scaled, so the definition can be computed directly.
    weights = gaussian_filter(kept, 4, mode="nearest", truncate=4)
    expected = [
        gaussian_filter(image[:, :, channel] * kept, 4, mode="nearest", truncate=4) / weights
        for channel in range(3)
    ]
    made = filled(image, region)
    inside = np.stack(expected, axis=2)[region.mask]
    np.testing.assert_allclose(made[region.mask].astype(float), inside, atol=1)
    np.testing.assert_array_equal(made[~region.mask], image[~region.mask])


def test_a_filling_knows_nothing_of_what_it_replaces() -> None:
    (image,) = _noise(1, 64)
    for region in (regions(64)[0], regions(64)[24], *regions(64)[-5:]):
        other = np.where(region.mask[:, :, None], np.uint8(255) - image, image)
        np.testing.assert_array_equal(filled(image, region), filled(other, region))


def test_a_filling_adds_no_edge_to_a_plain_image() -> None:
    image = np.full((48, 48, 3), (200, 30, 90), np.uint8)
    for region in regions(48):
        np.testing.assert_array_equal(filled(image, region), image)


def test_a_sure_decision_still_shows_what_it_hangs_on() -> None:
    """Its probability is 1 to the last digit with and without the region."""

    def corner(images: Tensor) -> Tensor:
        bright = images[:, :, 12:, :4].mean(dim=(1, 2, 3))
        return torch.stack([40 + 5 * bright, torch.zeros_like(bright)], dim=1).double()

    image = np.zeros((1, 16, 16, 3), np.uint8)
    image[:, 12:, :4] = 255
    subject = subject_of(corner, arrays(np.repeat(image, 2, axis=0), [0, 1], ["yes", "no"]))
    images = subject.labeled()
    found = regions(16)
    falls = drops(subject, images, np.zeros(2, np.int64), found)
    assert falls.shape == (2, len(found)) and (1 - falls.max()) == 1.0
    assert [found[at].box for at in largest(falls, 0)] == [(0, 12, 4, 16)] * 2


def test_drops_are_what_the_probability_loses() -> None:
    def left(images: Tensor) -> Tensor:
        bright = images[:, :, :, :4].mean(dim=(1, 2, 3))
        return torch.stack([bright, 1 - bright], dim=1)

    pixels = _noise(3, 16)
    subject = subject_of(left, arrays(pixels, [0, 1, 0], ["a", "b"]))
    images, found = subject.labeled(), regions(16)
    decided = np.array([0, 1, 1])
    falls = drops(subject, images, decided, found)
    for row, region in ((0, 0), (1, 21), (2, 50)):
        without = filled(images.pixels(row), found[region])[None]
        before, after = (
            torch.softmax(left(torch.from_numpy(one).permute(0, 3, 1, 2) / 255), dim=1)
            for one in (images.pixels(row)[None], without)
        )
        expected = float((before - after)[0, decided[row]])
        np.testing.assert_allclose(falls[row, region], expected, atol=1e-6)


def test_equal_falls_are_no_reason_for_the_first_corner() -> None:
    chosen = largest(np.zeros((200, 54)), seed=0)
    assert len(np.unique(chosen)) > 40
    falls = np.zeros((5, 54))
    falls[:, 7] = 0.1
    np.testing.assert_array_equal(largest(falls, seed=0), [7] * 5)
