"""Recipes of object-aware crops and hyperbolic learning have the settings of the authors' code."""

import pytest

from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.papers import paper_tables
from unshortcut.recipes.schema import Recipe

OPENIMAGES = (
    "moco-v2-openimages",
    "moco-v2-objects-openimages",
    "moco-v2-object-scene-openimages",
    "hcl-openimages",
    "hcl-densecl-openimages",
)
CROPS = "random_resized_crop"


def names(recipe: Recipe, view: str) -> list[str]:
    return [one.name for one in recipe.views.overrides.get(view, recipe.views.augmentations)]


@pytest.mark.parametrize("name", OPENIMAGES)
def test_openimages_has_the_schedule_of_its_authors(name: str) -> None:
    recipe = load_recipe(name)
    assert (recipe.data.name, recipe.data.batch_size) == ("openimages", 128)
    assert recipe.optimizer.lr == (0.15 if name.startswith("hcl") else 0.015)
    assert (recipe.schedule.epochs, recipe.schedule.kind) == (200, "cosine")
    assert recipe.method.loss.temperature == 0.2 and recipe.method.momentum == 0.999
    assert [(one.name, one.size) for one in recipe.method.negatives] == [("queue", 65536)]


def test_the_rows_of_the_public_code_have_their_numbers() -> None:
    (table,) = paper_tables("object-aware-cropping/README")
    numbers = {
        row.label: (row.numbers["openimages_map"], row.numbers["imagenet_top1"])
        for row in table.rows
    }
    assert numbers == {
        "Supervised": (66.3, 76.2),
        "CMC": (48.7, 60.0),
        "BYOL": (50.2, 70.7),
        "SwAV": (51.3, 72.7),
        "MoCo-v2": (49.8, 67.5),
        "object-aware crops": (58.6, 68.0),
    }


@pytest.mark.parametrize("name", ["moco-v2-objects-openimages", "moco-v2-objects-coco"])
def test_object_crops_follow_the_published_formulas(name: str) -> None:
    recipe = load_recipe(name)
    objects = recipe.views.objects
    assert objects is not None
    assert (objects.query, objects.key, objects.dilation) == ("object", "dilated", 0.2)
    assert (objects.formula, objects.growth, objects.swap) == ("published", "published", 0.5)
    window = recipe.views.object_views()
    assert window is not None and window.window == 224 and objects.most == 10
    crop, plain = (
        next(one for one in made if one.name == CROPS)
        for made in (recipe.views.overrides["query"], recipe.views.augmentations)
    )
    assert crop.scale[0] < 1e-5 and plain.scale == (0.2, 1.0)
    assert names(recipe, "query") == names(recipe, "key")
    base = load_recipe(name.replace("-objects", ""))
    assert (recipe.method, recipe.optimizer) == (base.method, base.optimizer)


def test_the_variant_with_scenes_resizes_the_object_and_crops_the_scene() -> None:
    recipe = load_recipe("moco-v2-object-scene-openimages")
    assert recipe.views.objects is not None and recipe.views.objects.key == "scene"
    assert CROPS not in names(recipe, "query") and CROPS in names(recipe, "key")


@pytest.mark.parametrize("name", ["hcl-openimages", "hcl-coco", "hcl-densecl-openimages"])
def test_hyperbolic_learning_has_the_settings_of_its_authors(name: str) -> None:
    recipe = load_recipe(name)
    method, objects = to_mapping(recipe)["method"], recipe.views.objects
    stated = {
        "euclidean_weight": 1.0,
        "hyperbolic_weight": 0.1,
        "curvature": 0.05,
        "hyperbolic_temperature": 0.2,
        "hyperbolic_queue": 65536,
        "dim": 128,
    }
    assert stated.items() <= method.items()
    assert objects is not None
    assert (objects.smallest, objects.window, objects.growth) == (56, 256, "random")
    for view in ("object", "scene"):
        assert names(recipe, view)[0] == "resize" and CROPS not in names(recipe, view)
    assert names(recipe, "query")[0] == CROPS


@pytest.mark.parametrize("method", ["moco-v2", "simclr", "byol", "densecl", "looc-color"])
def test_small_recipes_of_object_crops_differ_from_their_base_in_data_and_views(
    method: str,
) -> None:
    base, objects = load_recipe(f"{method}-shapes"), load_recipe(f"{method}-objects-shapes")
    assert objects.data.name == "shapes@scene-train" and objects.views.objects is not None
    for part in ("method", "encoder", "optimizer", "schedule"):
        assert getattr(objects, part) == getattr(base, part)
    assert objects.views.augmentations == base.views.augmentations
