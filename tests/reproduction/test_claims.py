"""The claims of the package: their variants, and the metrics of the papers next to them."""

from dataclasses import asdict
from itertools import combinations
from typing import Any

import pytest

from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.looc import INVARIANT
from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction.claim import (
    Scale,
    Variant,
    all_claims,
    get_claim,
    paper_metrics,
    select_variants,
)
from unshortcut.reproduction.claims import looc_spaces
from unshortcut.reproduction.effects import POINTS, EffectResult
from unshortcut.reproduction.identity import training_key
from unshortcut.reproduction.scales import scale_recipe

CLAIMS = all_claims()
SPACES = ("invariant", "color", "rotation", "texture")
FLIPS = "negatives-patch-flips"
MOCO, LONG = "moco-v2-imagenet100", "moco-v2-500ep-imagenet100"
PATCH_2, PATCH_3 = "moco-v2-patch-a2-imagenet100", "moco-v2-patch-a3-imagenet100"
PLUS = "looc-pp-color-rotation-texture-imagenet100"
TOP1, SKETCH = ":imagenet100_top1", ":imagenet_sketch"
SUBSETS = [name for n in (1, 2, 3) for name in map("+".join, combinations(SPACES, n))]
FIGURES = {"test": 0.0} | {
    f"test@{name}": place for place, name in enumerate(("all", *SUBSETS), start=1)
}
"""What might be measured of one training: a task, and the same through subsets of its spaces."""


def printed(row: str) -> float:
    """The metric `RECIPE:KEY` of the paper, which stands in the recipe alone."""
    recipe, _, key = row.partition(":")
    paper = load_recipe(recipe).paper
    assert paper is not None
    return paper.metrics[key]


def keys(name: str, scale: Scale = "small") -> dict[str, str]:
    """The key of every variant's first training, by label."""
    claim = CLAIMS[name]
    source, registered = Shapes("train", count=8), claim.registered(scale)
    found = {}
    for variant in claim.variants(scale):
        recipe = load_recipe(claim.recipe(variant, claim.base_recipe(scale)))
        recipe = scale_recipe(recipe, scale, registered.changes if registered else ())
        proposing = claim.proposing(variant)
        boxes = None if proposing is None else asdict(proposing)
        found[variant.label] = training_key(load_recipe(recipe, variant.changes), source, boxes)
    return found


def effects_of_the_paper(name: str) -> dict[str, EffectResult]:
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


@pytest.mark.parametrize("scale", ["small", "laptop", "paper"])
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
        if scale != "laptop":  # where arms may be a part of the variants
            assert effect.variants <= {variant.label for variant in variants}
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


def test_the_sweeps_have_the_values_of_the_figures() -> None:
    for name in ("negatives-alpha", "negatives-similarity"):
        for scale in ("small", "paper"):
            (axis,) = CLAIMS[name].axes(scale)  # type: ignore[arg-type]
            assert axis.values == ("0", "1", "2", "3", "4", "5"), "figures 6 and 13"
    queues, _ = CLAIMS["negatives-memory"].axes("paper")
    assert queues.values == ("1024", "2048", "4096", "8192", "12288", "16384"), "figures 4 and 5"


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
    with pytest.raises(UsageError, match=r"give the one of its row MoCo, .*, not 'simclr-shapes'"):
        claim.recipe(claim.variants("small")[0], "simclr-shapes")


def test_a_subset_that_the_recipe_does_not_have_is_refused() -> None:
    claim = CLAIMS["looc-spaces"]
    (misspelled,) = claim.variants("small", {"spaces": ["invarant+color"]})
    with pytest.raises(UsageError, match="did you mean 'invariant\\+color'"):
        claim.recipe(misspelled, claim.recipes["small"])
    with pytest.raises(UsageError, match="must be looc, which has spaces, not moco"):
        claim.recipe(claim.variants("small")[0], "moco-v2-shapes")


@pytest.mark.parametrize(
    ("name", "effect", "first", "second"),
    [
        ("negatives-alpha", "sketch: alpha=3 - alpha=0", PATCH_3 + SKETCH, MOCO + SKETCH),
        ("negatives-alpha", "test: alpha=2 - alpha=0", PATCH_2 + TOP1, MOCO + TOP1),
        ("negatives-no-jitter", "test: jitter=no alpha=2 - jitter=no alpha=0",
         "moco-v2-patch-no-jitter-imagenet100" + TOP1, "moco-v2-no-jitter-imagenet100" + TOP1),
        ("negatives-memory", "test: queue=8192 alpha=2 - queue=16384 alpha=0",
         "moco-v2-patch-a2-k8192-imagenet100" + TOP1, MOCO + TOP1),
        ("negatives-byol", "test: regular=0.05 patch=0 - regular=0 patch=0",
         "byol-regular-imagenet100" + TOP1, "byol-imagenet100" + TOP1),
        ("negatives-byol", "test: regular=0 patch=0.05 - regular=0 patch=0",
         "byol-patch-imagenet100" + TOP1, "byol-imagenet100" + TOP1),
        (FLIPS, "test: patch=8-28 flips=horizontal - patch=8-28 flips=none",
         "moco-v2-patch-8-28-flip-imagenet100" + TOP1, "moco-v2-patch-8-28-imagenet100" + TOP1),
        (FLIPS, "test: patch=16-72 flips=rotation - patch=16-72 flips=none",
         "moco-v2-patch-flip-vflip-rotate-imagenet100" + TOP1, PATCH_2 + TOP1),
        ("negatives-patch-size", "test: patch=16-72 - patch=8-28",
         PATCH_2 + TOP1, "moco-v2-patch-8-28-imagenet100" + TOP1),
        ("looc-rotation", "rotation: method=moco-rotation - method=moco",
         "moco-v2-rotation-500ep-imagenet100:rotation", LONG + ":rotation"),
        ("looc-rotation", "rotation: method=moco-same-rotation - method=moco",
         "moco-v2-same-rotation-500ep-imagenet100:rotation", LONG + ":rotation"),
        ("looc-rotation", "rotation: method=looc-rotation - method=moco-rotation",
         "looc-rotation-imagenet100:rotation", "moco-v2-rotation-500ep-imagenet100:rotation"),
        ("looc-rotation", "rotation: method=looc-rotation - method=moco",
         "looc-rotation-imagenet100:rotation", LONG + ":rotation"),
        ("looc-rotation", "test: method=looc-rotation - method=moco",
         "looc-rotation-imagenet100" + TOP1, LONG + TOP1),
        ("looc-add-one", "test: method=looc-color - method=add-one-color",
         "looc-color-imagenet100" + TOP1, "looc-add-one-color-imagenet100" + TOP1),
        ("looc-add-one", "test: method=looc-rotation - method=add-one-rotation",
         "looc-rotation-imagenet100" + TOP1, "looc-add-one-rotation-imagenet100" + TOP1),
        ("looc-add-one", "test: method=moco - method=add-one-color",
         LONG + TOP1, "looc-add-one-color-imagenet100" + TOP1),
        ("looc-color", "color: method=looc-color - method=moco",
         "looc-color-imagenet100:inat_top1", LONG + ":inat_top1"),
        ("looc-color", "test: method=looc-color - method=moco",
         "looc-color-imagenet100" + TOP1, LONG + TOP1),
        ("looc-spaces", "test: spaces=all - spaces=invariant",
         PLUS + TOP1, PLUS + ":invariant_imagenet100_top1"),
        ("looc-spaces", "test: spaces=invariant+rotation - spaces=invariant",
         PLUS + ":invariant_rotation_imagenet100_top1", PLUS + ":invariant_imagenet100_top1"),
        ("looc-spaces", "color: spaces=invariant+color - spaces=invariant",
         PLUS + ":invariant_color_inat_top1", PLUS + ":invariant_inat_top1"),
    ],
)  # fmt: skip
def test_the_metrics_of_the_papers_rows_show_the_effect(
    name: str, effect: str, first: str, second: str
) -> None:
    found = effects_of_the_paper(name)[effect]
    assert found.mean == pytest.approx(printed(first) - printed(second), abs=1e-6)
    assert found.paper == pytest.approx(found.mean, abs=1e-6)
    # A loss of less than two points next to a claim that nothing is lost has the word `reversed`.
    kept = found.mean > -POINTS
    assert found.verdict in ("appears", None) or (found.predicted == 1 and kept)


@pytest.mark.parametrize("effect", ["patch: alpha=5 - alpha=0", "texture_image: alpha=3 - alpha=0"])
def test_the_similarities_of_the_paper_show_the_effect(effect: str) -> None:
    found = effects_of_the_paper("negatives-similarity")[effect]
    assert found.mean == found.paper and found.mean < -0.2
    assert found.verdict == "appears"


def test_in_the_paper_most_of_the_loss_is_won_back() -> None:
    found = effects_of_the_paper("negatives-no-jitter")["test: won back minus half of the loss"]
    assert found.verdict == "appears"


def test_patch_ranges_are_scaled_to_the_view() -> None:
    def change(scale: Scale) -> tuple[str, ...]:
        (variant,) = select_variants(
            CLAIMS["negatives-patch-size"].variants(scale), ["patch=28-112"]
        )
        return variant.changes

    assert change("paper") == ("method.negatives.patch.patch=[28,112]",)
    assert change("small") == ("method.negatives.patch.patch=[8,32]",)
    with pytest.raises(UsageError, match="not '72-16'"):
        CLAIMS["negatives-patch-size"].variants("small", {"patch": ["72-16"]})


def test_only_takes_labels_and_parts_of_them() -> None:
    def labels(*only: str) -> list[str]:
        return [variant.label for variant in select_variants(variants, only)]

    variants: list[Variant] = CLAIMS["negatives-memory"].variants("small")
    assert labels("queue=128") == ["queue=128 alpha=0", "queue=128 alpha=3"]
    assert labels("queue=128 alpha=3", "queue=2048 alpha=0") == [
        "queue=128 alpha=3",
        "queue=2048 alpha=0",
    ]
    assert len(labels()) == 6
    with pytest.raises(UsageError, match="unknown variant 'queue=129'"):
        labels("queue=129")


def test_the_invariant_space_is_called_as_in_the_method() -> None:
    assert looc_spaces.INVARIANT == INVARIANT


def test_an_unknown_claim_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'negatives-alpha'"):
        get_claim("negative-alpha")
    with pytest.raises(UsageError, match="value of jitter 'off'"):
        CLAIMS["negatives-no-jitter"].variants("small", {"jitter": ["off"]})


@pytest.mark.parametrize(
    ("name", "label", "recipe"),
    [
        ("negatives-alpha", "alpha=0", "moco-v2-imagenet100"),
        ("negatives-alpha", "alpha=2", "moco-v2-patch-a2-imagenet100"),
        ("negatives-alpha", "alpha=3", "moco-v2-patch-a3-imagenet100"),
        ("negatives-no-jitter", "jitter=no alpha=0", "moco-v2-no-jitter-imagenet100"),
        ("negatives-no-jitter", "jitter=no alpha=2", "moco-v2-patch-no-jitter-imagenet100"),
        ("negatives-memory", "queue=8192 alpha=0", "moco-v2-k8192-imagenet100"),
        ("negatives-memory", "queue=8192 alpha=2", "moco-v2-patch-a2-k8192-imagenet100"),
        ("negatives-byol", "regular=0 patch=0", "byol-imagenet100"),
        ("negatives-byol", "regular=0 patch=0.05", "byol-patch-imagenet100"),
        ("negatives-byol", "regular=0.05 patch=0", "byol-regular-imagenet100"),
        ("negatives-byol", "regular=0.05 patch=0.05", "byol-patch-regular-imagenet100"),
        ("negatives-patch-size", "patch=8-28", "moco-v2-patch-8-28-imagenet100"),
        (FLIPS, "patch=8-28 flips=vertical", "moco-v2-patch-8-28-flip-vflip-imagenet100"),
        (FLIPS, "patch=16-72 flips=horizontal", "moco-v2-patch-flip-imagenet100"),
    ],
)
def test_a_variant_is_the_training_of_the_recipe_whose_metrics_it_shows(
    name: str, label: str, recipe: str
) -> None:
    claim, row = CLAIMS[name], load_recipe(recipe)
    (variant,) = (v for v in claim.variants("paper") if v.label == label)
    shown = claim.paper(variant.values)
    assert shown["test"] == printed(recipe + TOP1)
    varied = load_recipe(claim.recipe(variant, claim.recipes["paper"]), variant.changes)
    assert (varied.data, varied.schedule, varied.optimizer) == (
        row.data,
        row.schedule,
        row.optimizer,
    )
    assert effective_negatives(varied) == effective_negatives(row)
    assert effective_augmentations(varied) == effective_augmentations(row)


def effective_negatives(recipe: Recipe) -> list[dict[str, Any]]:
    """Sources of negatives without those of weight 0, the default patch size spelled out."""
    sources = to_mapping(recipe)["method"]["negatives"]
    return [
        {**source, "patch": source["patch"] or [16, 72]} if source["name"] == "patch" else source
        for source in sources
        if source.get("alpha") != 0
    ]


def effective_augmentations(recipe: Recipe) -> list[dict[str, Any]]:
    """Augmentations without those of probability 0."""
    augmentations: list[dict[str, Any]] = to_mapping(recipe)["views"]["augmentations"]
    return [one for one in augmentations if one.get("p") != 0]


def test_a_claim_without_a_recipe_for_a_row_fails() -> None:
    with pytest.raises(UsageError, match="unknown recipe 'moco-v2-imagenet101'"):
        paper_metrics("moco-v2-imagenet101")
