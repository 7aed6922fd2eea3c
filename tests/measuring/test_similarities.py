"""Similarities of pairs: hand-made models whose cosines are known, and views as in training."""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage, BadImageError, ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.pair_distributions import (
    EDGES,
    PAIR_TITLES,
    Distribution,
    cosine_histograms,
)
from unshortcut.measuring.pairs import KINDS
from unshortcut.measuring.plots import PALETTE, color
from unshortcut.measuring.similarities import (
    MOCO_V2,
    pair_similarities,
    similarity,
    views_at,
)
from unshortcut.methods.moco import MoCoSettings
from unshortcut.models.load import LoadedModel
from unshortcut.models.loaded import Function
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.texture import TextureSettings
from unshortcut.randomness import torch_seed
from unshortcut.recipes.load import load_recipe
from unshortcut.views.plan import ViewPlan

SIZE = 16
CROP = [RandomResizedCrop(SIZE, scale=(0.5, 1.0))]


class Pictures(ImageSource):
    """Images that are given; None stands for one that cannot be read."""

    def __init__(self, pictures: list[NDArray[np.uint8] | None]) -> None:
        self.pictures = pictures

    def __len__(self) -> int:
        return len(self.pictures)

    def image(self, index: int) -> ArrayImage:
        picture = self.pictures[index]
        if picture is None:
            raise BadImageError("broken on purpose")
        return ArrayImage(picture)

    def identity(self, index: int) -> str:
        return str(index)

    def fingerprint(self) -> str:
        return "pictures"


def plain(color: tuple[int, int, int]) -> NDArray[np.uint8]:
    return np.full((20, 20, 3), color, np.uint8)


def grays(count: int) -> list[NDArray[np.uint8] | None]:
    """Image i is of gray value i all over, in every crop, tiling and texture of it."""
    return [plain((value, value, value)) for value in range(count)]


def model(features: Function, size: int = SIZE, name: str = "by hand") -> LoadedModel:
    """Features of images from 0 to 1."""
    shown = Preprocessing(size=size, mean=(0, 0, 0), std=(1, 1, 1))
    return LoadedModel(name, shown, features, None)


def identity_of(images: Tensor) -> Tensor:
    """One-hot by the gray value: 1 for two views of one image, else 0."""
    values = (images[:, 0, 0, 0] * 255).round().long()
    return F.one_hot(values, 256).float()


def mean_color(images: Tensor) -> Tensor:
    return images.mean(dim=(2, 3)) - 0.5


def pixels(images: Tensor) -> Tensor:
    return images.flatten(1)


@pytest.mark.parametrize("count", [2, 3, 7, 70])
def test_a_model_that_knows_the_image_finds_1_but_in_negatives_where_it_finds_0(count: int) -> None:
    found = pair_similarities(model(identity_of), Pictures(grays(count)), augmentations=CROP)
    assert tuple(found) == KINDS
    for kind in ("positive", "texture", "patch"):
        np.testing.assert_array_equal(found[kind], np.ones(count))
    np.testing.assert_array_equal(found["negative"], np.zeros(count))  # none meets itself


def test_no_image_is_its_own_negative_where_others_cannot_be_read() -> None:
    pictures = grays(40)
    for bad in range(0, 40, 3):
        pictures[bad] = None
    with pytest.warns(UserWarning, match="broken on purpose"):
        found = pair_similarities(model(identity_of), Pictures(pictures), augmentations=CROP)
    assert all(len(values) == 26 for values in found.values())
    assert found["negative"].max() == 0 and found["patch"].min() == 1


def test_the_negatives_are_the_cosines_of_different_images() -> None:
    """Red, green and gray: each in two of the three pairs, in whichever order."""
    colors = [(200, 50, 100), (0, 255, 30), (90, 90, 90)]
    found = pair_similarities(
        model(mean_color), Pictures([plain(c) for c in colors]), augmentations=CROP
    )
    rows = np.array(colors) / 255 - 0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    expected = [rows[0] @ rows[1], rows[1] @ rows[2], rows[2] @ rows[0]]
    np.testing.assert_allclose(np.sort(found["negative"]), np.sort(expected), atol=1e-6)


def test_identical_images_are_as_like_as_two_views_of_one() -> None:
    found = pair_similarities(
        model(pixels), Pictures([plain((10, 200, 30))] * 5), augmentations=CROP
    )
    for values in found.values():
        np.testing.assert_allclose(values, 1, atol=1e-12)


def test_a_patch_as_large_as_the_view_is_the_view() -> None:
    source = Shapes("train", size=32, count=20)
    whole = pair_similarities(model(pixels), source, pairs=["patch"], patch=(SIZE, SIZE))
    tiled = pair_similarities(model(pixels), source, pairs=["patch"], patch=(2, 4))
    np.testing.assert_allclose(whole["patch"], 1, atol=1e-12)
    assert tiled["patch"].mean() < 0.99


def test_a_model_that_sees_color_alone_takes_tiles_for_the_image() -> None:
    """Tiles move pixels; the mean color stays, and that of another image is another."""
    source = Shapes("train", size=32, count=100)
    means = {k: v.mean() for k, v in pair_similarities(model(mean_color), source).items()}
    assert means["patch"] > 0.9 and means["negative"] < 0.5


def test_the_model_sees_what_training_would_show_it() -> None:
    seen: list[Tensor] = []

    def watching(images: Tensor) -> Tensor:
        seen.append((images * 255).round().to(torch.uint8))
        return pixels(images)

    source = Shapes("train", size=32, count=6)
    pair_similarities(model(watching), source, seed=5, batch_size=6, augmentations=CROP)
    method = MoCoSettings(negatives=(PatchSettings(), TextureSettings(patch=96 / 224)))
    training = ViewPlan(method.view_transforms(), CROP)
    shown = {view.numpy().tobytes() for batch in seen for view in batch.permute(0, 2, 3, 1)}
    made = [
        view.tobytes()
        for index in range(6)
        for view in training(source.image(index), torch_seed(5, "similarity"), 0, index).values()
    ]
    assert len(seen) == 4, "each kind of view is encoded once"
    assert shown == set(made) and len(shown) == 24


def test_the_seed_repeats_to_the_bit_whatever_the_batches_and_threads() -> None:
    source = Shapes("train", size=24, count=30)

    def measure(seed: int = 1, batch_size: int = 20, workers: int = 1) -> NDArray[np.float64]:
        found = pair_similarities(
            model(pixels), source, count=20, seed=seed, batch_size=batch_size, workers=workers
        )
        return np.stack([found[kind] for kind in KINDS])

    first = measure()
    assert first.shape == (4, 20)
    for again in (measure(), measure(batch_size=3), measure(batch_size=7, workers=3)):
        np.testing.assert_array_equal(first, again)
    assert not np.isclose(first, measure(seed=2)).any()


def test_a_distribution_sums_up_what_it_was_given() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 1000)
    values[:3] = -1, 0, 1
    one = Distribution.of(values)
    assert one.n == sum(one.histogram) == 1000 and len(one.histogram) == len(EDGES) - 1
    assert one.mean == pytest.approx(values.sum() / 1000)
    assert one.std == pytest.approx(np.sqrt(np.mean((values - one.mean) ** 2)))
    for index, (low, high) in enumerate(pairwise(EDGES)):
        last = index == len(one.histogram) - 1
        inside = (values >= low) & ((values < high) | last)
        assert one.histogram[index] == inside.sum()


def test_several_models_get_what_each_gets_alone() -> None:
    """Whatever their input sizes; and models of one size share their views."""
    source = Shapes("train", size=32, count=30)
    models = [model(pixels, name="a"), model(pixels, 24, "b"), model(mean_color, name="c")]
    result = similarity(models, source, num_images=25, seed=3)
    assert (result.space, result.views) == ("features", MOCO_V2)
    assert list(result.models) == ["a", "b", "c"]
    for one in models:
        alone = pair_similarities(one, source, count=25, seed=3)
        assert result.models[one.name] == {k: Distribution.of(v) for k, v in alone.items()}
    assert result.means()["b"]["patch"] == result.models["b"]["patch"].mean


def test_models_that_share_a_name_are_numbered_and_a_mapping_names_them() -> None:
    source = Shapes("train", size=16, count=4)
    same = [model(pixels), model(pixels), model(pixels)]
    found = similarity(same, source, pairs=["positive"])
    assert list(found.models) == ["by hand", "by hand (2)", "by hand (3)"]
    assert list(similarity({"mine": same[0]}, source, pairs=["positive"]).models) == ["mine"]


def test_views_are_those_of_the_recipe_that_is_asked_for() -> None:
    source = Shapes("train", size=16, count=20)
    views = {**load_recipe(MOCO_V2).model_dump(mode="json")}
    views["views"] = {"size": 64, "augmentations": [{"name": "center_crop"}]}
    same = similarity([model(pixels)], source, views=views, pairs=["positive", "negative"])
    assert same.means()["by hand"]["positive"] == pytest.approx(1, abs=1e-12)
    assert same.means()["by hand"]["negative"] < 0.99


def test_a_recipes_views_at_another_size() -> None:
    views = load_recipe("moco-v2-anisotropic-shapes").views
    other = views_at(views, 96)
    assert other.size == 96 and other.augmentations != views.augmentations
    assert {a.size for a in other.augmentations if hasattr(a, "size")} == {96}
    assert views_at(other, views.size) == views


def test_the_result_is_plain_values_and_a_page(tmp_path: Path) -> None:
    source = Shapes("train", size=16, count=12)
    result = similarity([model(pixels), model(mean_color, name="color")], source)
    metrics = json.loads(json.dumps(result.to_dict()))
    assert metrics["models"]["color"]["patch"]["mean"] == result.means()["color"]["patch"]
    assert len(metrics["bin_edges"]) == len(EDGES) and metrics["space"] == "features"
    result.plot(tmp_path / "all.html")
    page = (tmp_path / "all.html").read_text()
    assert "Plotly" in page and not re.search(r'<script[^>]*src="http', page), "self-contained"
    assert all(title in page for title in PAIR_TITLES.values())
    assert f'"{PALETTE[1]}"' in page and f'"{color("color")}"' not in page
    two = {name: {"patch": kinds["patch"]} for name, kinds in result.models.items()}
    figure = cosine_histograms(two)
    assert [trace["name"] for trace in figure["data"]] == ["by hand", "color"], "one panel"


def test_what_cannot_be_measured_is_said() -> None:
    source, one = Shapes("train", size=16, count=4), model(pixels)
    with pytest.raises(UsageError, match="unknown kind of pair 'pach'; did you mean 'patch'"):
        pair_similarities(one, source, pairs=["pach"])
    with pytest.raises(UsageError, match="count must be at least 2, not 1"):
        pair_similarities(one, source, count=1)
    with pytest.raises(UsageError, match="at least two images"):
        pair_similarities(one, Pictures(grays(1)))
    with pytest.raises(UsageError, match="at least one model"):
        similarity([], source)
    with pytest.raises(UsageError, match="unknown space 'pixel'"):
        similarity([one], source, space="pixel")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'timm:resnet18' is not a run of unshortcut"):
        similarity(["timm:resnet18"], source, space="embedding")
    with pytest.raises(RunError, match="features of 'by hand' are not finite"):
        pair_similarities(model(lambda images: pixels(images) / 0), source, pairs=["patch"])
