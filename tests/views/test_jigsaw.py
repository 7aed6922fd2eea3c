"""The jigsaw view: pieces of the cells of the image, in a random order."""

import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.data.source import ArrayImage
from unshortcut.randomness import generator
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.jigsaw import Jigsaw, lay_out


def coordinates(height: int, width: int) -> ImageArray:
    """An image whose first two channels say where a pixel lies."""
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows, columns, np.zeros_like(rows)], axis=2).astype(np.uint8)


def test_each_piece_is_a_crop_of_another_cell() -> None:
    image = coordinates(255, 255)
    out = lay_out(image, generator(0))
    assert out.shape == (192, 192, 3) and out.dtype == np.uint8
    cells = []
    for row in range(3):
        for column in range(3):
            piece = out[64 * row : 64 * row + 64, 64 * column : 64 * column + 64]
            top, left = (int(x) for x in piece[0, 0, :2])
            assert np.array_equal(piece, image[top : top + 64, left : left + 64])
            assert top % 85 <= 21 and left % 85 <= 21, "a piece reaches over the edge of its cell"
            cells.append((top // 85, left // 85))
    assert sorted(cells) == [(row, column) for row in range(3) for column in range(3)]
    assert cells != sorted(cells)


def test_places_in_the_cell_and_orders_vary_over_all_that_is_possible() -> None:
    image = coordinates(255, 255)
    corners = [lay_out(image, generator(seed))[0, 0, :2] for seed in range(400)]
    offsets = {int(top) % 85 for top, _ in corners}
    assert offsets == set(range(22))
    assert len({(int(top) // 85, int(left) // 85) for top, left in corners}) == 9


def test_pieces_keep_their_share_in_images_of_other_sizes() -> None:
    assert lay_out(coordinates(72, 96), generator(0)).shape == (54, 72, 3)
    assert lay_out(coordinates(3, 4), generator(0)).shape == (3, 3, 3)


def test_a_plan_makes_it_of_augmentations_of_its_own_by_key() -> None:
    crop = [make_augmentation("random_resized_crop", {"size": 24})]
    larger = [make_augmentation("random_resized_crop", {"size": 51, "scale": (0.6, 1.0)})]
    plan = ViewPlan({"query": Augmented(), "jigsaw": Jigsaw()}, crop, {"jigsaw": larger})
    image = ArrayImage(coordinates(90, 120))
    views = plan(image, 0, 1, 2)
    assert views["query"].shape == (24, 24, 3)
    assert views["jigsaw"].shape == (39, 39, 3)  # cells of 17, pieces of 13
    assert np.array_equal(views["jigsaw"], plan(image, 0, 1, 2)["jigsaw"])
    assert not np.array_equal(views["jigsaw"], plan(image, 0, 2, 2)["jigsaw"])
