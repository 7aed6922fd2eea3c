"""The rows of DenseCL in table 2.1 of the dissertation are recipes with the stated settings."""

import pytest

from unshortcut.recipes.load import load_recipe, to_mapping

ROWS = {
    # recipe: lr, weight decay, epochs, values of the table
    "densecl-imagenet": (0.03, 1e-4, 200, [82.8, 58.7, 65.2, 69.4]),
    "densecl-anisotropic-doubled-imagenet": (0.3, 5e-4, 100, [83.5, 59.6, 66.4, 70.5]),
    "densecl-coco": (0.3, 1e-4, 800, [81.7, 56.7, 63.0, 67.5]),
    "densecl-anisotropic-doubled-coco": (0.3, 5e-4, 400, [83.1, 57.9, 64.2, 68.6]),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_densecls_method_and_its_own_schedule(name: str) -> None:
    recipe = load_recipe(name)
    lr, decay, epochs, values = ROWS[name]
    optimizer = recipe.optimizer
    assert (optimizer.name, optimizer.lr, optimizer.weight_decay) == ("sgd", lr, decay)
    assert (recipe.data.batch_size, recipe.schedule.epochs) == (256, epochs)
    assert (recipe.schedule.kind, recipe.schedule.per) == ("cosine", "epoch")
    assert recipe.encoder.name == "resnet50"
    queue = [{"name": "queue", "size": 65536}]
    assert to_mapping(recipe)["method"] == {
        "name": "densecl",
        "momentum": 0.999,
        "hidden": 2048,
        "dim": 128,
        "head_batch_norm": False,
        "loss": {"name": "info_nce", "temperature": 0.2},
        "negatives": queue,
        "batch_norm_groups": 8,
        "shared": [],
        "dense_weight": 0.5,
        "dense_start": 0.0,
        "dense_negatives": queue,
    }
    assert recipe.paper is not None
    columns = ("voc_ap50", "voc_ap", "voc_ap75", "voc_miou")
    assert [recipe.paper.metrics[column] for column in columns] == values


@pytest.mark.parametrize("data", ["imagenet", "coco"])
def test_the_doubled_rows_have_the_views_of_moco(data: str) -> None:
    recipe = load_recipe(f"densecl-anisotropic-doubled-{data}")
    assert recipe.views == load_recipe("moco-v2-anisotropic-doubled-imagenet").views
    assert (recipe.data.name, recipe.data.filtered_copy) == (data, f"{data}-anisotropic")
    assert load_recipe(f"densecl-{data}").data.filtered_copy is None
    assert 2 * recipe.schedule.epochs == load_recipe(f"densecl-{data}").schedule.epochs


def test_the_small_recipes_differ_in_diffusion_only() -> None:
    plain, diffused = (load_recipe(f"densecl-{part}shapes") for part in ("", "anisotropic-"))
    assert diffused.views == load_recipe("moco-v2-anisotropic-shapes").views
    assert plain.views == load_recipe("moco-v2-shapes").views
    assert (plain.method, plain.encoder) == (diffused.method, diffused.encoder)
    assert (plain.optimizer, plain.schedule) == (diffused.optimizer, diffused.schedule)
