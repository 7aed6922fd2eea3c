"""The puzzle view: tiles of the cells in their places, with gaps, each augmented on its own."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.views.test_jigsaw import coordinates
from unshortcut.arrays import ImageArray
from unshortcut.augmentations.anisotropic_diffusion import AnisotropicDiffusion
from unshortcut.augmentations.augmentation import Augmentation, make_augmentation
from unshortcut.augmentations.color_shift import ColorShift
from unshortcut.augmentations.from_copy import FromCopy
from unshortcut.augmentations.random_crop import RandomCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.data.folder import open_folder
from unshortcut.data.source import ArrayImage
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import anisotropic_diffusion
from unshortcut.recipes.load import load_recipe
from unshortcut.training.plan_copies import plan_copies
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transforms.puzzle import Puzzle

CROP = RandomCrop(64, padding=0)


def plan_of(*tile: Augmentation, grid: int = 3, size: int = 255) -> ViewPlan:
    crop = make_augmentation("center_crop", {"size": size})
    return ViewPlan({"tiles": Puzzle(grid, tile)}, [crop])


def cut_out(view: ImageArray, grid: int = 3) -> list[ImageArray]:
    """The tiles of a view, row by row."""
    side = len(view) // grid
    return [
        view[row * side : (row + 1) * side, column * side : (column + 1) * side]
        for row in range(grid)
        for column in range(grid)
    ]


def noise(height: int, width: int) -> ImageArray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_each_tile_is_a_crop_of_its_own_cell_with_gaps_that_vary() -> None:
    image = coordinates(255, 255)
    plan = plan_of(CROP)
    offsets = set()
    for epoch in range(60):
        view = plan(ArrayImage(image), 0, epoch, 0)["tiles"]
        assert view.shape == (192, 192, 3) and view.dtype == np.uint8
        for number, tile in enumerate(cut_out(view)):
            top, left = (int(x) for x in tile[0, 0, :2])
            assert np.array_equal(tile, image[top : top + 64, left : left + 64])
            assert (top // 85, left // 85) == divmod(number, 3)
            offsets |= {top % 85, left % 85}
    assert offsets == set(range(22)), "85 - 64 pixels of jitter"


def test_the_same_key_gives_the_same_tiles() -> None:
    image, plan = ArrayImage(noise(255, 255)), plan_of(CROP, ColorShift())
    first, again, other = (plan(image, 0, epoch, 7)["tiles"] for epoch in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_each_channel_of_each_tile_has_a_shift_of_its_own() -> None:
    image = np.full((90, 90, 3), 100, np.uint8)
    shifts = []
    for epoch in range(20):
        view = plan_of(ColorShift(), size=90)(ArrayImage(image), 0, epoch, 0)["tiles"]
        for tile in cut_out(view):
            assert (tile == tile[0, 0]).all()
            shifts.append(tuple(int(x) - 100 for x in tile[0, 0]))
    assert {shift for one in shifts for shift in one} == {-2, -1, 0, 1}
    assert len(set(shifts)) > 40


def test_a_shift_stays_within_the_levels() -> None:
    image = np.array([[[0, 1, 255]]], np.uint8)
    assert ColorShift().apply(image, [-2, -2, 1]).tolist() == [[[0, 0, 255]]]
    assert ColorShift().apply(image, [1, 1, -2]).tolist() == [[[1, 2, 253]]]
    with pytest.raises(UsageError, match="two integers from -255 to 255"):
        ColorShift((3, 1))


def test_single_tiles_are_diffused_half_of_the_time() -> None:
    image = noise(36, 36)
    plan = plan_of(AnisotropicDiffusion(iterations=5, p=0.5), size=36)
    diffused = []
    for epoch in range(40):
        for tile, cell in zip(
            cut_out(plan(ArrayImage(image), 0, epoch, 0)["tiles"]), cut_out(image), strict=True
        ):
            smooth = anisotropic_diffusion(np.ascontiguousarray(cell), iterations=5)
            assert np.array_equal(tile, cell) or np.array_equal(tile, smooth)
            diffused.append(not np.array_equal(tile, cell))
    assert 0.42 < np.mean(diffused) < 0.58  # 360 tiles
    assert len({tuple(diffused[i : i + 9]) for i in range(0, 360, 9)}) > 30, "each on its own"


def test_single_tiles_may_come_from_the_copy_of_the_image(tmp_path: Path) -> None:
    for name, image in (("own", coordinates(60, 60)), ("copy", coordinates(60, 60) + 100)):
        (tmp_path / name).mkdir()
        Image.fromarray(image).save(tmp_path / name / "1.png")
    copy = str(tmp_path / "copy")
    plan = plan_of(FromCopy(copy), RandomCrop(15, padding=0), size=60)
    source = plan_copies(plan).attach(open_folder(tmp_path / "own"))
    kinds = []
    for epoch in range(20):
        for number, tile in enumerate(cut_out(plan(source.image(0), 0, epoch, 0)["tiles"])):
            copied = bool(tile[0, 0, 2] == 100)
            top, left = (int(x) - 100 * copied for x in tile[0, 0, :2])
            assert (top // 20, left // 20) == divmod(number, 3), "the place of the tile is the same"
            kinds.append(copied)
    assert 0.4 < np.mean(kinds) < 0.6


def test_tiles_may_be_resized_as_for_alexnet() -> None:
    plan = plan_of(CROP, Resize((75, 75)))
    assert plan(ArrayImage(noise(300, 400)), 0, 0, 0)["tiles"].shape == (225, 225, 3)
    published = load_recipe("jigsaw-alexnet-imagenet").view_plan()
    assert published(ArrayImage(noise(300, 400)), 0, 0, 0)["tiles"].shape == (225, 225, 3)


def test_tiles_may_be_enlarged_before_they_are_cropped() -> None:
    plan = plan_of(Resize((75, 75)), CROP, size=90)  # cells of 30 pixels
    assert plan(ArrayImage(noise(90, 90)), 0, 0, 0)["tiles"].shape == (192, 192, 3)


def test_augmentations_of_tiles_are_checked_with_the_recipe() -> None:
    with pytest.raises(UsageError, match="pix2pix: 'weights' is missing"):
        load_recipe("jigsaw-shapes", ["method.tile_augmentations=[{name: pix2pix}]"])


def test_other_grids_and_images_that_are_not_square() -> None:
    plan = ViewPlan({"tiles": Puzzle(2, (RandomCrop((10, 20), padding=0),))}, [])
    image = coordinates(40, 60)
    view = plan(ArrayImage(image), 0, 0, 0)["tiles"]
    assert view.shape == (20, 40, 3)
    corners = [view[y, x, :2] // (20, 30) for y in (0, 10) for x in (0, 20)]
    assert [corner.tolist() for corner in corners] == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_tiles_that_do_not_fit_are_refused_before_any_image_is_read() -> None:
    message = "tiles of 64 × 64 pixels do not fit into the cells of 30 × 30"
    with pytest.raises(UsageError, match=message):
        plan_of(CROP, size=90)
    with pytest.raises(UsageError, match=message):
        load_recipe("jigsaw-imagenet", ["views.augmentations.center_crop.size=90"])
