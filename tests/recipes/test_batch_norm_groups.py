"""Recipes have a batch-norm group for each GPU that the papers trained on."""

import pytest

from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.step import DeviceBatch
from unshortcut.recipes.catalog import list_recipes
from unshortcut.recipes.load import load_recipe


def gpus(name: str) -> int:
    """The number that the papers state; ours where the recipe is our own."""
    if name.endswith(("-shapes", "-imagenette")):
        return 4
    if name.startswith("hcl-"):
        return 4  # not stated; as its baseline
    if name.startswith("looc-") or "moco-pp" in name or "500ep" in name:
        return 8  # LooC follows MoCo-v2 (section 4)
    if name.startswith("moco-v2-") and name.endswith(("-imagenet100", "-stl10", "-openimages")):
        return 4  # NSN, appendix C.1: 4 GPUs; OpenImages has MoCo's lr for 4 GPUs
    return 8


@pytest.mark.parametrize("name", list_recipes())
def test_a_recipe_has_a_group_for_each_gpu_of_its_paper(name: str) -> None:
    recipe = load_recipe(name)
    if not isinstance(recipe.method, MoCoSettings):
        return
    groups = recipe.method.batch_norm_groups
    assert groups == gpus(name)
    for devices in (1, 2, groups):
        batch = DeviceBatch(recipe.data.batch_size // devices, devices)
        recipe.method.check(batch)
        assert recipe.method.warnings(batch) == []
