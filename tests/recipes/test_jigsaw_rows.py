"""Every row of the Jigsaw tables is a recipe with the settings of section 2.8."""

from typing import Any

import pytest

from unshortcut.recipes.load import load_recipe, to_mapping

ROWS: dict[str, tuple[str, str | None]] = {
    # recipe without its data set: the data and the copy that it trains on (column "Dataset Size")
    "jigsaw": ("imagenet", None),
    "jigsaw-stylized": ("imagenet-stylized", None),
    "jigsaw-gaussian": ("imagenet", "imagenet-gaussian"),
    "jigsaw-bilateral": ("imagenet", "imagenet-bilateral"),
    "jigsaw-only-anisotropic": ("imagenet-anisotropic-20", None),
    "jigsaw-anisotropic": ("imagenet", "imagenet-anisotropic-20"),
    "jigsaw-cartoon": ("imagenet", "imagenet-cartoon"),
    "jigsaw-patchwise": ("imagenet", None),
    "jigsaw-alexnet": ("imagenet", None),
    "jigsaw-alexnet-anisotropic": ("imagenet", "imagenet-anisotropic-20"),
}
CROP = {"name": "random_crop", "size": 64, "padding": 0}
SHIFT = {"name": "color_shift", "levels": [-2, 1]}
RESIZE = {"name": "resize", "size": [75, 75]}
COPY = {"name": "from_copy", "path": "imagenet-anisotropic-20", "p": 0.5}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_trained_as_section_2_8_and_the_public_code_say(name: str) -> None:
    recipe = load_recipe(f"{name}-imagenet")
    method: dict[str, Any] = to_mapping(recipe)["method"]
    optimizer, schedule = recipe.optimizer, recipe.schedule
    assert (recipe.data.name, recipe.data.filtered_copy) == ROWS[name]
    assert recipe.data.batch_size == 256
    assert (optimizer.name, optimizer.lr, optimizer.momentum) == ("sgd", 0.01, 0.9)
    assert optimizer.weight_decay == 5e-4
    assert (schedule.epochs, schedule.kind, schedule.gamma) == (90, "step", 0.1)
    assert schedule.milestones == [30, 30 + 30, 30 + 30 + 20]
    alexnet = "alexnet" in name
    assert recipe.encoder.name == ("alexnet_jigsaw" if alexnet else "resnet18")
    assert (method["grid"], method["permutations"], method["selection"]) == (3, 1000, "mean")
    assert (method["tile_dim"], method["hidden"], method["dropout"]) == (1024, 4096, 0.5)
    before, after = [COPY] if "patchwise" in name else [], [RESIZE] if alexnet else []
    assert method["tile_augmentations"] == [*before, CROP, *after, SHIFT]
    whole = [
        {"name": "resize", "size": 256},
        {"name": "center_crop", "size": 255},
        {"name": "grayscale", "p": 0.3},
    ]
    assert to_mapping(recipe)["views"]["augmentations"] == whole


def test_the_recipes_for_shapes_differ_in_what_their_names_say() -> None:
    plain, diffused, patchwise, stylized = (
        to_mapping(load_recipe(f"jigsaw{kind}-shapes"))
        for kind in ("", "-anisotropic", "-patchwise", "-stylized")
    )
    whole = plain["views"].pop("augmentations")
    tile = plain["method"].pop("tile_augmentations")
    diffusion, randomization = (
        [one for one in changed["views"].pop("augmentations") if one not in whole]
        for changed in (diffused, stylized)
    )
    assert [(one["name"], one["p"]) for one in diffusion] == [("anisotropic_diffusion", 0.5)]
    assert [(one["name"], one["p"]) for one in randomization] == [("texture_randomization", 1.0)]
    assert patchwise["method"].pop("tile_augmentations") == [*diffusion, *tile]
    assert diffused["method"].pop("tile_augmentations") == tile
    assert stylized["method"].pop("tile_augmentations") == tile
    patchwise["views"].pop("augmentations")
    for recipe in (plain, diffused, patchwise, stylized):
        recipe.pop("summary")
    assert plain == diffused == patchwise == stylized
