"""The claims of the package: their variants are recipes, their metrics are the papers'."""

import re
from itertools import combinations

import pytest

from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe, recipe_names
from unshortcut.reproduction.claim import Scale, Variant, all_claims, claim_named, keep_only
from unshortcut.reproduction.effects import Finding
from unshortcut.reproduction.identity import training_key

CLAIMS = all_claims()
SPACES = ("invariant", "color", "rotation", "texture")
FLIPS = "negatives-patch-flips"
SUBSETS = [name for n in (1, 2, 3) for name in map("+".join, combinations(SPACES, n))]
FIGURES = {"test": 0.0} | {
    f"test@{name}": place for place, name in enumerate(("all", *SUBSETS), start=1)
}
"""What might be measured of one training: a task, and the same through subsets of its spaces."""


def keys(name: str, scale: Scale = "small") -> dict[str, str]:
    """The key of every variant's first training, by label."""
    claim = CLAIMS[name]
    source = Shapes("train", count=8)
    found = {}
    for variant in claim.variants(scale):
        recipe = load_recipe(claim.recipe(variant, claim.recipes[scale]))
        found[variant.label] = training_key(load_recipe(recipe, variant.changes), source)
    return found


def effects_of_the_paper(name: str) -> dict[str, Finding]:
    """What a claim would find if we had measured the paper's metrics."""
    claim = CLAIMS[name]
    variants = [v for v in claim.variants("paper") if claim.paper(v.values)]
    paper = {variant.label: claim.paper(variant.values) for variant in variants}
    metrics = {label: [printed, printed] for label, printed in paper.items()}
    return {
        f"{effect.measure}: {found.what}": found
        for effect in claim.effects(variants)
        if all(effect.measure in paper.get(v, {}) for v in effect.variants)
        for found in [effect.find(metrics, paper)]
    }


@pytest.mark.parametrize("scale", ["small", "paper"])
@pytest.mark.parametrize("name", CLAIMS)
def test_variants_differ_in_what_is_trained_or_in_what_is_read_of_it(
    name: str, scale: Scale
) -> None:
    claim = CLAIMS[name]
    variants = claim.variants(scale)
    trained = keys(name, scale)
    told_apart = {(trained[v.label], tuple(claim.read(v, FIGURES).values())) for v in variants}
    assert len(told_apart) == len(trained) == len(variants) > 1
    assert all(len(claim.read(variant, FIGURES)) >= 1 for variant in variants)
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


def test_the_claims_on_leave_one_out_share_what_they_can() -> None:
    rotation, add_one, color = keys("looc-rotation"), keys("looc-add-one"), keys("looc-color")
    for label in ("method=moco", "method=moco-rotation", "method=looc-rotation"):
        assert rotation[label] == add_one[label]
    assert color["method=moco"] == rotation["method=moco"]
    assert color["method=looc-color"] == add_one["method=looc-color"]
    assert color["method=looc-color:color"] == color["method=looc-color:invariant"]
    assert len({*rotation.values(), *add_one.values(), *color.values()}) == 8
    assert len(set(keys("looc-spaces").values())) == 1


def test_a_claim_that_compares_recipes_follows_that_of_its_first_row() -> None:
    claim = CLAIMS["looc-rotation"]
    assert [claim.recipe(v, "moco-v2-imagenette") for v in claim.variants("small")] == [
        "moco-v2-imagenette",
        "moco-v2-rotation-imagenette",
        "moco-v2-same-rotation-imagenette",
        "looc-rotation-imagenette",
    ]
    with pytest.raises(UsageError, match=r"name that of its row MoCo, .*, not 'simclr-shapes'"):
        claim.recipe(claim.variants("small")[0], "simclr-shapes")


def test_a_subset_that_the_recipe_does_not_have_is_refused() -> None:
    claim = CLAIMS["looc-spaces"]
    (misspelled,) = claim.variants("small", {"spaces": ["invarant+color"]})
    with pytest.raises(UsageError, match="did you mean 'invariant\\+color'"):
        claim.recipe(misspelled, claim.recipes["small"])
    with pytest.raises(UsageError, match="must be looc, which has spaces, not moco"):
        claim.recipe(claim.variants("small")[0], "moco-v2-shapes")


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
        ("looc-rotation", "rotation: method=moco-rotation - method=moco", -17.8),
        ("looc-rotation", "rotation: method=moco-same-rotation - method=moco", -15.6),
        ("looc-rotation", "rotation: method=looc-rotation - method=moco-rotation", 21.9),
        ("looc-rotation", "rotation: method=looc-rotation - method=moco", 4.1),
        ("looc-rotation", "test: method=looc-rotation - method=moco", -0.8),
        ("looc-add-one", "test: method=looc-color - method=add-one-color", 6.2),
        ("looc-add-one", "test: method=looc-rotation - method=add-one-rotation", 0.9),
        ("looc-add-one", "test: method=moco - method=add-one-color", 6.1),
        ("looc-color", "color: method=looc-color - method=moco", 5.0),
        ("looc-color", "test: method=looc-color - method=moco", 0.1),
        ("looc-spaces", "test: spaces=all - spaces=invariant", 3.7),
        ("looc-spaces", "test: spaces=invariant+rotation - spaces=invariant", 3.0),
        ("looc-spaces", "color: spaces=invariant+color - spaces=invariant", 4.4),
    ],
)  # fmt: skip
def test_the_papers_own_figures_show_the_effect(name: str, effect: str, value: float) -> None:
    found = effects_of_the_paper(name)[effect]
    assert found.mean == pytest.approx(value, abs=1e-6)
    assert found.paper == pytest.approx(value, abs=1e-6)
    assert re.split("[;,]", found.verdict)[0] in ("appears", "exceeds", "higher", "matches")


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
    printed = {called[key]: value for key, value in row.metrics.items() if key in called}
    assert claim.paper(variant.values) == printed
