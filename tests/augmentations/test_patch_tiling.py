"""The augmentation `patch_tiling`: what it draws, its sizes, and its settings in a recipe."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.imaging.pictures import pictures
from unshortcut.augmentations.augmentation import Pipeline, make_augmentation
from unshortcut.errors import UsageError
from unshortcut.parts import build
from unshortcut.randomness import generator
from unshortcut.recipes.schema import ViewSettings


def test_patches_of_the_result_are_patches_of_the_image() -> None:
    image = pictures("drawn")[0]
    tiling = make_augmentation("patch_tiling", {"size": [60, 90], "patch": 30})
    out = tiling.apply(image, tiling.sample(generator(0), *image.shape[:2]))
    assert out.shape == (60, 90, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image, (30, 30, 3))[:, :, 0]
    corners = image[: windows.shape[0], : windows.shape[1]]
    for row in (0, 30):
        for column in (0, 30, 60):
            patch = out[row : row + 30, column : column + 30]
            same = np.argwhere((corners == patch[0, 0]).all(axis=2))
            assert any(np.array_equal(windows[top, left], patch) for top, left in same)


def test_the_range_of_the_patch_has_both_ends() -> None:
    tiling = make_augmentation("patch_tiling", {"patch": [16, 18]})
    rng = generator(0)
    sides = [int(tiling.sample(rng, 224, 224).sides[0]) for _ in range(300)]
    assert set(sides) == {16, 17, 18}


@pytest.mark.parametrize("overlap", [True, False])
def test_only_without_overlap_are_all_patches_apart(overlap: bool) -> None:
    tiling = make_augmentation("patch_tiling", {"patch": 16, "size": 128, "overlap": overlap})
    cells = tiling.sample(generator(0), 128, 128).cells[0].reshape(-1, 4)
    on_grid = (cells[:, :2] % 16 == 0).all()
    assert on_grid != overlap


@pytest.mark.parametrize(("setting", "column"), [("flip", 2), ("rotate", 3)])
def test_flips_and_turns_are_options(setting: str, column: int) -> None:
    for on in (False, True):
        tiling = make_augmentation("patch_tiling", {"patch": 16, setting: on})
        cells = tiling.sample(generator(0), 224, 224).cells
        assert bool(cells[..., column].any()) == on
        assert not cells[..., 5 - column].any()


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_p_is_how_often_an_image_is_tiled(p: float) -> None:
    tiling = make_augmentation("patch_tiling", {"p": p, "size": 32})
    rng = generator(0)
    tiled = sum(tiling.sample(rng, 40, 40) is not None for _ in range(600))
    assert stats.binomtest(tiled, 600, p).pvalue > 1e-3 if 0 < p < 1 else tiled == 600 * p
    image = pictures("drawn")[0]
    assert tiling.apply(image, None) is image
    assert tiling.output_size(None, 40, 50) == (40, 50)
    assert tiling.output_size(tiling.sample(rng, 40, 50), 40, 50) == (
        (40, 50) if p == 0 else (32, 32)
    )


def test_two_views_share_a_draw_to_the_bit() -> None:
    pipeline = Pipeline([make_augmentation("patch_tiling", {"flip": True, "rotate": True})])
    first, second = (pipeline.sample(generator(7), 100, 120) for _ in range(2))
    assert first == second
    image = pictures("drawn")[0][:100, :120]
    np.testing.assert_array_equal(pipeline.apply(image, first), pipeline.apply(image, second))


def test_an_image_smaller_than_the_patches_is_tiled_whole() -> None:
    image = generator(0).integers(0, 256, (10, 10, 3), dtype=np.uint8)
    tiling = make_augmentation("patch_tiling", {"size": 20})
    out = tiling.apply(image, tiling.sample(generator(0), 10, 10))
    np.testing.assert_array_equal(out, np.tile(image, (2, 2, 1)))


def test_a_recipe_s_size_is_the_default() -> None:
    given: dict[str, Any] = {"size": 96, "augmentations": [{"name": "patch_tiling"}]}
    assert build(ViewSettings, given, "views").augmentations[0].size == 96  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"patch": [72, 16]}, "patch_tiling': 'patch' must be one or two integers of at least 1"),
        ({"patch": 0}, "got 0"),
        ({"size": 0}, "patch_tiling': 'size'"),
        ({"p": 2}, "patch_tiling': 'p' must be a number from 0 to 1, got 2"),
        ({"overlaps": True}, "did you mean 'overlap'"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        make_augmentation("patch_tiling", settings)
