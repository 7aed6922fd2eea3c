"""The claims of the package: their variants are recipes, their figures are the papers'."""

import re

import pytest

from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe, recipe_names
from unshortcut.reproduction.claim import Claim, Scale, Variant, all_claims, claim_named, keep_only
from unshortcut.reproduction.effects import Finding
from unshortcut.reproduction.identity import training_key

CLAIMS = all_claims()
FLIPS = "negatives-patch-flips"


def base(claim: Claim, scale: Scale) -> str:
    name = claim.recipes[scale]
    if name not in recipe_names():
        pytest.skip(f"there is no recipe {name}")
    return name


def keys(name: str) -> dict[str, str]:
    """The key of every variant's first training at the small scale, by label."""
    claim = CLAIMS[name]
    source = Shapes("train", count=8)
    recipe = load_recipe(base(claim, "small"))
    return {
        variant.label: training_key(load_recipe(recipe, variant.changes), source)
        for variant in claim.variants("small")
    }


def effects_of_the_paper(name: str) -> dict[str, Finding]:
    """What a claim would find if we had measured the paper's figures."""
    claim = CLAIMS[name]
    variants = [v for v in claim.variants("paper") if claim.paper(v.values)]
    paper = {variant.label: claim.paper(variant.values) for variant in variants}
    figures = {label: [printed, printed] for label, printed in paper.items()}
    return {
        f"{effect.measure}: {found.what}": found
        for effect in claim.effects(variants)
        if all(effect.measure in paper.get(v, {}) for v in effect.variants)
        for found in [effect.find(figures, paper)]
    }


@pytest.mark.parametrize("scale", ["small", "paper"])
@pytest.mark.parametrize("name", CLAIMS)
def test_every_variant_is_a_recipe_of_its_own(name: str, scale: Scale) -> None:
    claim = CLAIMS[name]
    recipe = base(claim, scale)
    source = Shapes("train", count=8)
    variants = claim.variants(scale)
    trained = {
        training_key(load_recipe(recipe, [*variant.changes, "seed=1"]), source)
        for variant in variants
    }
    assert len(trained) == len({variant.label for variant in variants}) == len(variants) > 1
    assert claim.x in variants[0].values
    shown = {column.measure for column in claim.columns}
    for effect in claim.effects(variants):
        assert set(effect.variants) <= {variant.label for variant in variants}
        assert effect.measure in shown or effect.measure == "cartoon"
    for variant in variants:
        assert set(claim.paper(variant.values)) <= shown


def test_equal_trainings_of_different_claims_are_one() -> None:
    alpha, similarity = keys("negatives-alpha"), keys("negatives-similarity")
    jitter, memory = keys("negatives-no-jitter"), keys("negatives-memory")
    size, flips = keys("negatives-patch-size"), keys("negatives-patch-flips")
    assert alpha == similarity
    for strength in ("alpha=0", "alpha=3"):
        assert jitter[f"jitter=yes {strength}"] == alpha[strength]
        assert memory[f"queue=512 {strength}"] == alpha[strength]
    assert size["patch=none"] == alpha["alpha=0"]
    assert size["patch=16-72"] == flips["patch=16-72 flips=none"] == alpha["alpha=3"]
    assert size["patch=8-28"] == flips["patch=8-28 flips=none"]


@pytest.mark.parametrize(
    ("name", "effect", "value"),
    [
        ("negatives-alpha", "sketch: alpha=3 - alpha=0", 5.79),
        ("negatives-alpha", "sketch: best - alpha=0", 5.79),
        ("negatives-alpha", "test: alpha=2 - alpha=0", 1.47),
        ("negatives-similarity", "patch: alpha=5 - alpha=0", 0.1184 - 0.4040),
        ("negatives-similarity", "texture_image: alpha=3 - alpha=0", 0.1896 - 0.4114),
        ("negatives-no-jitter", "test: jitter=no alpha=2 - jitter=no alpha=0", 5.98),
        ("negatives-memory", "test: queue=8192 alpha=2 - queue=16384 alpha=0", 1.66),
        ("negatives-byol", "test: regular=0.05 patch=0 - regular=0 patch=0", -21.54),
        ("negatives-byol", "test: regular=0 patch=0.05 - regular=0 patch=0", 0.05),
        (FLIPS, "test: patch=8-28 flips=horizontal - patch=8-28 flips=none", 0.14),
        (FLIPS, "test: patch=16-72 flips=rotation - patch=16-72 flips=none", -0.95),
        ("negatives-patch-size", "test: patch=16-72 - patch=8-28", 0.77),
    ],
)  # fmt: skip
def test_the_papers_own_figures_show_the_effect(name: str, effect: str, value: float) -> None:
    found = effects_of_the_paper(name)[effect]
    assert found.mean == pytest.approx(value, abs=1e-6)
    assert found.paper == pytest.approx(value, abs=1e-6)
    assert re.split("[;,]", found.verdict)[0] in ("appears", "exceeds", "higher")


def test_in_the_paper_most_of_the_loss_is_won_back() -> None:
    found = effects_of_the_paper("negatives-no-jitter")["test: won back minus half of the loss"]
    assert found.verdict == "appears; 80 % of the loss won back"


def test_patch_ranges_are_scaled_to_the_view() -> None:
    def change(scale: Scale) -> tuple[str, ...]:
        (variant,) = keep_only(CLAIMS["negatives-patch-size"].variants(scale), ["patch=28-112"])
        return variant.changes

    assert change("paper") == ("method.negatives.patch.patch=[28,112]",)
    assert change("small") == ("method.negatives.patch.patch=[8,32]",)
    with pytest.raises(UsageError, match="not '72-16'"):
        CLAIMS["negatives-patch-size"].variants("small", {"patch": ["72-16"]})


def test_only_takes_labels_and_parts_of_them() -> None:
    def labels(*only: str) -> list[str]:
        return [variant.label for variant in keep_only(variants, only)]

    variants: list[Variant] = CLAIMS["negatives-memory"].variants("small")
    assert labels("queue=128") == ["queue=128 alpha=0", "queue=128 alpha=3"]
    assert labels("queue=128 alpha=3", "queue=2048 alpha=0") == [
        "queue=128 alpha=3",
        "queue=2048 alpha=0",
    ]
    assert len(labels()) == 6
    with pytest.raises(UsageError, match="unknown variant 'queue=129'"):
        labels("queue=129")


def test_an_unknown_claim_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'negatives-alpha'"):
        claim_named("negative-alpha")
    with pytest.raises(UsageError, match="value of jitter 'off'"):
        CLAIMS["negatives-no-jitter"].variants("small", {"jitter": ["off"]})


@pytest.mark.parametrize(
    ("name", "label", "recipe"),
    [
        ("negatives-alpha", "alpha=0", "moco-v2-imagenet100"),
        ("negatives-alpha", "alpha=2", "moco-v2-patch-a2-imagenet100"),
        ("negatives-alpha", "alpha=3", "moco-v2-patch-a3-imagenet100"),
        ("negatives-no-jitter", "jitter=no alpha=0", "moco-v2-no-jitter-imagenet100"),
        ("negatives-memory", "queue=8192 alpha=0", "moco-v2-k8192-imagenet100"),
        ("negatives-memory", "queue=8192 alpha=2", "moco-v2-patch-a2-k8192-imagenet100"),
        ("negatives-byol", "regular=0 patch=0", "byol-imagenet100"),
        ("negatives-byol", "regular=0.05 patch=0.05", "byol-patch-regular-imagenet100"),
    ],
)
def test_figures_are_those_of_the_recipe_of_the_same_row(
    name: str, label: str, recipe: str
) -> None:
    if recipe not in recipe_names():
        pytest.skip(f"there is no recipe {recipe}")
    claim = CLAIMS[name]
    (variant,) = (v for v in claim.variants("paper") if v.label == label)
    row = load_recipe(recipe).paper
    assert row is not None
    called = {"imagenet100_top1": "test", "imagenet_sketch": "sketch"}
    called["stylized_imagenet"] = "stylized"
    printed = {called[key]: value for key, value in row.figures.items() if key in called}
    assert claim.paper(variant.values) == printed
