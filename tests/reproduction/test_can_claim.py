"""The claim on CAN: its arms share one ViT, and differ in what they learn from."""

import pytest

from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction.claim import get_claim
from unshortcut.reproduction.scales import scale_recipe

BASES = ("can-shapes", "can-imagenette", "can-vit-b-imagenet")
CLAIM = get_claim("can")


def recipes(base: str, *methods: str) -> dict[str, Recipe]:
    variants = CLAIM.variants("small", {"method": methods} if methods else None)
    return {
        variant.values["method"]: load_recipe(CLAIM.recipe(variant, base), variant.changes)
        for variant in variants
    }


@pytest.mark.parametrize("base", BASES)
def test_four_arms_with_the_same_vit_and_batch(base: str) -> None:
    arms = recipes(base)
    assert list(arms) == ["simclr", "mae", "contrast+masks", "can"]
    first = arms["simclr"]
    for arm in arms.values():
        assert arm.encoder == first.encoder and arm.data == first.data
        if base.split("-")[-1] != "imagenet":  # the papers train MAE otherwise
            assert (arm.optimizer, arm.schedule) == (first.optimizer, first.schedule)
    without, whole = arms["contrast+masks"].method, arms["can"].method
    assert (without.denoise, whole.denoise > 0) == (0, True)


def test_every_pair_and_every_term_alone_can_be_added() -> None:
    found = recipes("can-shapes", "contrast+noise", "masks+noise", "contrast", "masks", "noise")
    terms = {
        name: [key for key in ("contrast", "reconstruct", "denoise") if getattr(one.method, key)]
        for name, one in found.items()
    }
    assert terms == {
        "contrast+noise": ["contrast", "denoise"],
        "masks+noise": ["reconstruct", "denoise"],
        "contrast": ["contrast"],
        "masks": ["reconstruct"],
        "noise": ["denoise"],
    }
    for name, one in found.items():
        shipped = load_recipe(f"can-{name.replace('+', '-')}-shapes")
        assert shipped.method == one.method, "the ablation is also there as recipes"


def test_its_paper_is_the_abstract_and_other_recipes_are_refused() -> None:
    assert CLAIM.paper({"method": "can"}) == {"test": 74.8}
    assert CLAIM.paper({"method": "mae"}) == {"test": 68.0}
    assert CLAIM.paper({"method": "contrast"}) == {}
    with pytest.raises(UsageError, match="recipe of CAN 'moco-v2-shapes'"):
        recipes("moco-v2-shapes")


def test_the_laptop_scale_leaves_a_vit_as_it_is() -> None:
    recipe = load_recipe("can-shapes")
    scaled = scale_recipe(recipe, "laptop")
    assert scaled.encoder == recipe.encoder and scaled.schedule.epochs == 40
