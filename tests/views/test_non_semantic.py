"""Views that keep only texture: tiles of the view or of the image, and texture images."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.data.copies import ImageWithCopies
from unshortcut.data.source import ArrayImage
from unshortcut.errors import UsageError
from unshortcut.imaging.synthesis import synthesize_texture
from unshortcut.training.plan_copies import plan_copies
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms import textured
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.textured import Textured
from unshortcut.views.transforms.tiled import TiledImage, TiledView, patch_range

SIZE = 32
CROP = make_augmentation("random_resized_crop", {"size": SIZE, "scale": [0.2, 0.6]})
JITTER = make_augmentation("color_jitter", {"brightness": 0.4, "hue": 0.5, "p": 1.0})
FLIP = make_augmentation("horizontal_flip", {"p": 0.5})
PICTURE = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)


def plan(negative: ViewTransform) -> ViewPlan:
    return ViewPlan({"query": Augmented(), "negative": negative}, (CROP, JITTER, FLIP))


def views(negative: ViewTransform, index: int = 0) -> dict[str, np.ndarray]:
    made = plan(negative)
    return made(with_copies(PICTURE, made), 0, 0, index)


def with_copies(pixels: np.ndarray, plan: ViewPlan) -> ImageWithCopies:
    return ImageWithCopies(ArrayImage(pixels), "a.png", plan_copies(plan).any_size)


def positions(patch: np.ndarray, image: np.ndarray) -> list[tuple[int, int]]:
    """Every position of an image where a patch is found."""
    side = len(patch)
    windows = np.lib.stride_tricks.sliding_window_view(image, (side, side), axis=(0, 1))
    same = (windows == patch.transpose(2, 0, 1)).all(axis=(2, 3, 4))
    return [(int(top), int(left)) for top, left in np.argwhere(same)]


@pytest.mark.parametrize("index", range(3))
def test_tiles_are_patches_of_the_finished_query_view(index: int) -> None:
    made = views(TiledView(patch=(8, 8)), index)
    assert made["negative"].shape == made["query"].shape
    for top in range(0, SIZE, 8):
        for left in range(0, SIZE, 8):
            assert positions(made["negative"][top : top + 8, left : left + 8], made["query"])
    assert not np.array_equal(made["negative"], made["query"])


def test_tiles_of_the_image_are_patches_of_it_and_of_nothing_later() -> None:
    made = views(TiledImage(patch=(8, 8), overlap=False))
    assert made["negative"].shape == (SIZE, SIZE, 3)
    found = [
        positions(made["negative"][top : top + 8, left : left + 8], PICTURE)
        for top in range(0, SIZE, 8)
        for left in range(0, SIZE, 8)
    ]
    assert all(found)
    covered = np.zeros(PICTURE.shape[:2], int)
    for ((top, left),) in found:
        covered[top : top + 8, left : left + 8] += 1
    assert covered.max() == 1  # non-overlapping, as in the paper


def test_every_image_and_every_negative_has_tiles_of_its_own() -> None:
    transforms = {"query": Augmented(), "a": TiledView(), "b": TiledView()}
    both = ViewPlan(transforms, (CROP,))(ArrayImage(PICTURE), 0, 0, 0)
    assert not np.array_equal(both["a"], both["b"])
    again = ViewPlan(transforms, (CROP,))(ArrayImage(PICTURE), 0, 0, 0)
    assert np.array_equal(both["a"], again["a"])


def test_the_papers_patches_scale_with_the_view() -> None:
    assert patch_range(224) == (16, 72)
    assert patch_range(64) == (5, 21)
    view = np.random.default_rng(1).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    sides = [int(TiledView().tiles(view, view, seed).sides[0]) for seed in range(300)]
    assert (min(sides), max(sides)) == (16, 72)


class TestTextured:
    def test_a_copy_of_the_image_s_size_gets_the_query_s_own_draws(self, tmp_path: Path) -> None:
        """A copy that is the image itself must become the query itself, to the bit."""
        PillowImage.fromarray(PICTURE).save(tmp_path / "a.png")
        for index in range(5):
            made = views(Textured(copy=str(tmp_path)), index)
            assert np.array_equal(made["negative"], made["query"])

    def test_a_copy_of_another_size_is_cropped_anew_and_colored_as_the_query(
        self, tmp_path: Path
    ) -> None:
        gray = np.full((50, 50, 3), 128, np.uint8)
        PillowImage.fromarray(gray).save(tmp_path / "a.png")
        transforms = plan(Textured(copy=str(tmp_path)))
        flat = with_copies(np.full_like(PICTURE, 128), transforms)
        for index in range(5):
            made = transforms(flat, 0, 0, index)
            # A gray photograph and a gray texture: only the color parameters can differ.
            assert np.array_equal(made["negative"], made["query"])

    def test_without_a_copy_the_texture_is_synthesized_from_patches_of_the_image(self) -> None:
        stripes = np.zeros((60, 80, 3), np.uint8)
        stripes[:, ::4] = 255
        transforms = ViewPlan(
            {"query": Augmented(), "negative": Textured()},
            (make_augmentation("random_resized_crop", {"size": 32, "scale": [1, 1]}),),
        )
        made = transforms(ArrayImage(stripes), 0, 0, 0)
        columns = made["negative"].astype(float)
        assert columns.std(axis=1).mean() > 3 * columns.std(axis=0).mean()
        assert not np.array_equal(made["negative"], made["query"])
        other = synthesize_texture([stripes[:48, :48]], 32, 32, seed=1)
        assert made["negative"].shape == other.shape

    @pytest.mark.parametrize(("patch", "side"), [(None, 48), (20, 20), (0.5, 30), (0.9, 54)])
    def test_the_example_patches_have_the_side_or_the_share_that_is_asked_for(
        self, patch: float | None, side: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sides = []

        def noted(patches: list[np.ndarray], *arguments: int, seed: int) -> np.ndarray:
            sides.append(patches[0].shape[0])
            return synthesize_texture(patches, *arguments, seed=seed)

        monkeypatch.setattr(textured, "synthesize_texture", noted)
        views(Textured(patch=patch))
        assert sides == [side]


def test_a_view_without_augmentations_of_its_own_cannot_be_given_others() -> None:
    with pytest.raises(UsageError, match="negative"):
        ViewPlan(
            {"query": Augmented(), "negative": TiledView()}, (CROP,), {"negative": (CROP, FLIP)}
        )
