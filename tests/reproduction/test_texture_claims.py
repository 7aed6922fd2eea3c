"""The claims on suppressed texture: what their recipes train on, and which numbers they show."""

from pathlib import Path

import numpy as np
import pytest

from tests.reproduction.small import SETS, all_tests, images
from tests.reproduction.test_claims import CLAIMS, effects_of_the_paper, keys, printed
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction import reproduce
from unshortcut.reproduction.claim import Scale

NAMES = tuple(name for name in CLAIMS if name.startswith("texture-"))
STYLE = "texture_randomization"


def recipe_of(name: str, label: str, scale: Scale) -> Recipe:
    claim = CLAIMS[name]
    (variant,) = (v for v in claim.variants(scale) if v.label == label)
    return load_recipe(claim.recipe(variant, claim.base_recipe(scale)), variant.changes)


def names_of(recipe: Recipe) -> list[str]:
    return [one.name for one in recipe.views.augmentations]


def test_they_need_two_dozen_trainings_besides_those_of_other_claims() -> None:
    needed = {
        (key, seed)
        for name in NAMES
        for key in keys(name, "laptop").values()
        for seed in range(getattr(CLAIMS[name].registration, "seeds", 0))
    }
    shared = {
        (key, seed) for key in keys("negatives-alpha", "laptop").values() for seed in range(6)
    }
    assert 0 < len(needed - shared) <= 24 and len(needed & shared) == 3


def test_the_baseline_of_moco_is_that_of_the_other_claims() -> None:
    plain = keys("negatives-alpha", "laptop")["alpha=0"]
    for name in ("texture-moco", "texture-stylized"):
        assert keys(name, "laptop")["images=original"] == plain


@pytest.mark.parametrize("scale", ["small", "paper"])
@pytest.mark.parametrize(
    ("name", "kind", "added"),
    [
        ("texture-moco", "anisotropic", "anisotropic_diffusion"),
        ("texture-stylized", "stylized", STYLE),
        ("texture-supervised", "anisotropic", "anisotropic_diffusion"),
        ("texture-supervised", "stylized", STYLE),
    ],
)
def test_a_kind_of_images_differs_from_the_originals_in_one_augmentation(
    name: str, kind: str, added: str, scale: Scale
) -> None:
    plain = recipe_of(name, "images=original", scale)
    other = recipe_of(name, f"images={kind}", scale)
    used = str(to_mapping(other)["views"]["augmentations"])
    assert used.count(added) == 1 and added not in str(to_mapping(plain)["views"])
    for one in plain.views.augmentations:
        assert one in other.views.augmentations or one.name in used
    assert (plain.data, plain.encoder) == (other.data, other.encoder)
    assert plain.schedule == other.schedule


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_both_views_are_crops_of_one_stylized_image(scale: Scale) -> None:
    recipe = recipe_of("texture-stylized", "images=stylized", scale)
    assert names_of(recipe)[0] == STYLE
    still = [
        "views.augmentations.random_resized_crop.scale=[1, 1]",
        "views.augmentations.random_resized_crop.ratio=[1, 1]",
        *(f"views.augmentations.{name}.p=0" for name in names_of(recipe)[2:]),
    ]
    shared, alone = load_recipe(recipe, still), load_recipe(recipe, [*still, "method.shared=[]"])
    source = Shapes("train", size=recipe.views.size, count=2)
    for index in range(2):
        image = source.image(index)
        one, two = (recipe.view_plan()(image, 0, 0, index) for recipe in (shared, alone))
        np.testing.assert_array_equal(one["query"], one["key"])
        assert (one["query"] != image.pixels()).mean() > 0.5
        assert (two["query"] != two["key"]).mean() > 0.5


def test_the_gains_that_the_paper_prints_stand_beside_ours() -> None:
    supervised = effects_of_the_paper("texture-supervised")
    gain = "images=anisotropic - images=original"
    assert supervised[f"sketch: {gain}"].paper == pytest.approx(11.49)
    assert supervised["sketch: images=stylized - images=original"].paper == pytest.approx(3.36)
    claim = CLAIMS["texture-supervised"]
    papers = {
        effect.measure: effect.paper for effect in claim.effects(claim.variants("laptop"))[:8]
    }
    assert papers["unseen"] == 10.41 and papers["corrupted"] == pytest.approx(1.85)
    assert claim.registration is not None and claim.registration.primary.paper == 10.41


@pytest.mark.parametrize(
    ("name", "kind", "row"),
    [
        ("texture-moco", "anisotropic", "moco-v2-anisotropic-doubled-imagenet"),
        ("texture-stylized", "stylized", "moco-v2-stylized-imagenet"),
    ],
)
def test_transfer_to_voc_shows_the_effect(name: str, kind: str, row: str) -> None:
    found = effects_of_the_paper(name)[f"test: images={kind} - images=original"]
    expected = printed(f"{row}:voc_ap50") - printed("moco-v2-imagenet:voc_ap50")
    assert found.mean == pytest.approx(expected) and found.verdict == "appears"


@pytest.mark.parametrize(
    ("name", "also"),
    [("texture-stylized", {"early_loss", "final_loss"}), ("texture-supervised", {"corrupted"})],
)
def test_a_claim_is_trained_and_measured_on_shapes(
    name: str, also: set[str], tmp_path: Path
) -> None:
    not_there = "method." if name == "texture-supervised" else "-"
    outcome = reproduce(
        name,
        images(),
        only=["images=stylized"],
        sets=[change for change in SETS if not change.startswith(not_there)],
        seeds=1,
        tests=all_tests(),
        out=tmp_path / "out",
        cache=tmp_path / "trainings",
    )
    (training,), ((metrics,),) = outcome.trainings, outcome.metrics.values()
    assert STYLE in names_of(training.recipe)
    assert metrics.keys() >= {"test", "unseen", "paired", "sketch", "shape_bias", *also}


def test_other_recipes_are_those_for_the_same_data() -> None:
    claim = CLAIMS["texture-moco"]
    assert [claim.recipe(v, "moco-v2-imagenette") for v in claim.variants("small")] == [
        "moco-v2-imagenette",
        "moco-v2-anisotropic-imagenette",
    ]
    with pytest.raises(UsageError, match=r"the one on originals, .*, not 'my-own\.yaml'"):
        claim.recipe(claim.variants("small")[1], "my-own.yaml")
