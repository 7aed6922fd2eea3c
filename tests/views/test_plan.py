"""The view plan: keyed to the bit, one decode, transforms that see what came before them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Pipeline, make_augmentation
from unshortcut.data.loader import ViewLoader
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage
from unshortcut.errors import UsageError
from unshortcut.randomness import generator
from unshortcut.recipes.load import load_recipe
from unshortcut.views.plan import ViewPlan
from unshortcut.views.sheet import sheet
from unshortcut.views.transform import ViewContext, ViewTransform
from unshortcut.views.transforms.augmented import Augmented

PICTURE = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
PLAN = load_recipe("moco-v2-imagenet", ["views.size=32"]).view_plan()


class CountingImage(ArrayImage):
    """Counts how often it is decoded, and how small it may be."""

    requested: list[float]

    def pixels(self, shrink: float = 1.0) -> ImageArray:
        self.requested.append(shrink)
        return super().pixels(shrink)


def test_the_same_key_gives_the_same_views_and_any_other_key_others() -> None:
    image = ArrayImage(PICTURE)
    first = PLAN(image, 0, 3, 5)
    again = PLAN(image, 0, 3, 5)
    assert list(first) == ["query", "key"]
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["query"], first["key"])
    for key in ((1, 3, 5), (0, 4, 5), (0, 3, 6)):
        assert not np.array_equal(PLAN(image, *key)["query"], first["query"])


def test_the_image_is_decoded_once_at_the_size_that_the_largest_need_allows() -> None:
    image = CountingImage(np.repeat(np.repeat(PICTURE, 20, 0), 20, 1))
    image.requested = []
    PLAN(image, 0, 0, 0)
    (shrink,) = image.requested
    crop = PLAN.pipelines["query"].augmentations[0]
    needs = [
        crop.shrink(crop.sample(generator(0, 0, 0, name), image.height, image.width))
        for name in ("query", "key")
    ]
    assert shrink == min(needs) > 1


@dataclass(frozen=True)
class SharedDraws(ViewTransform):
    """A view with the parameters of another, as leave-one-out views will be."""

    of: str

    def sample(
        self, context: ViewContext, pipeline: Pipeline, rng: np.random.Generator
    ) -> Sequence[Any]:
        return context.sampled[self.of]

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Sequence[Any]) -> ImageArray:
        return pipeline.apply(context.pixels(), sampled)


@dataclass(frozen=True)
class Derived(ViewTransform):
    """A view made out of a view, as patch negatives will be; needs no pixels of the image."""

    of: str

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: np.random.Generator) -> int:
        return int(rng.integers(100))

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: int) -> ImageArray:
        return context.views[self.of] // 2

    def shrink(self, pipeline: Pipeline, sampled: int) -> float:
        return float("inf")


def test_makers_can_share_draws_and_derive_views_without_any_change_to_the_plan() -> None:
    plan = ViewPlan(
        {"query": Augmented(), "twin": SharedDraws("query"), "half": Derived("query")},
        PLAN.pipelines["query"].augmentations,
    )
    views = plan(ArrayImage(PICTURE), 0, 0, 0)
    assert np.array_equal(views["query"], views["twin"])
    assert np.array_equal(views["half"], views["query"] // 2)


def test_a_view_can_have_augmentations_of_its_own() -> None:
    plan = ViewPlan(
        {"query": Augmented(), "key": Augmented()},
        [make_augmentation("resize", {"size": (8, 8)})],
        {"key": [make_augmentation("resize", {"size": (16, 16)})]},
    )
    views = plan(ArrayImage(PICTURE), 0, 0, 0)
    assert (views["query"].shape, views["key"].shape) == ((8, 8, 3), (16, 16, 3))
    with pytest.raises(UsageError, match=r"unknown view in views.overrides 'kee'"):
        ViewPlan({"key": Augmented()}, [], {"kee": []})


def test_a_sheet_shows_every_image_under_its_title() -> None:
    red = np.full((10, 20, 3), (255, 0, 0), dtype=np.uint8)
    page = np.asarray(sheet([[red, PICTURE], [PICTURE, red]], ["image", "query"], side=64))
    assert page.shape == (6 + 22 + 2 * 70, 6 + 2 * 70, 3)
    assert (page[60, 38] == (255, 0, 0)).all()
    assert (page[:28] < 128).any(), "titles are written"


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_recipes_views_are_the_same_to_the_bit_with_any_number_of_workers(workers: int) -> None:
    recipe = load_recipe("moco-v2-shapes", ["views.size=24", "seed=7"])

    def batches(workers: int) -> list[dict[str, torch.Tensor]]:
        source = Shapes("train", size=32, count=48)
        plan, seed = recipe.view_plan(), recipe.seed
        loader = ViewLoader(source, plan, batch_size=16, seed=seed, workers=workers)
        made = []
        for epoch in range(2):
            loader.sampler.set_epoch(epoch)
            made += [batch["views"] for batch in loader]
        loader.close()
        return made

    for alone, shared in zip(batches(0), batches(workers), strict=True):
        assert all(torch.equal(alone[name], shared[name]) for name in ("query", "key"))
