"""What claims fix beforehand, and what the scale `laptop` makes of their recipes."""

import pytest

from tests.reproduction.small import SmallClaim
from tests.reproduction.test_claims import CLAIMS as EVERY
from tests.reproduction.test_claims import keys
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.claim import Claim
from unshortcut.reproduction.effects import COSINE, POINTS
from unshortcut.reproduction.scales import SCALES, scale_recipe, scale_settings

VALUES_ONLY = ("can", "photographs")
"""Claims that are reported without a verdict."""
CLAIMS = {name: claim for name, claim in EVERY.items() if name not in VALUES_ONLY}
ALL = pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)


@ALL
def test_every_claim_registers_arms_that_it_has_and_a_primary_effect_among_them(
    claim: Claim,
) -> None:
    registered = claim.registration
    assert registered is not None and claim.registered("small") is None
    labels = [variant.label for variant in claim.variants("laptop")]
    assert set(labels) == set(registered.arms) and len(labels) == len(registered.arms)
    primary = registered.primary
    assert primary.predicted is not None and primary.variants <= set(labels)
    assert primary.measure in {column.measure for column in claim.columns}
    assert primary.margin == (COSINE if claim.name == "negatives-similarity" else POINTS)
    assert registered.seeds > 1
    effects = claim.effects(claim.variants("laptop"))
    assert (primary.measure, primary.weights, primary.predicted) in [
        (effect.measure, effect.weights, effect.predicted) for effect in effects
    ], "the primary effect is one of the effects"


@pytest.mark.parametrize("name", VALUES_ONLY)
def test_claims_without_a_verdict_predict_nothing(name: str) -> None:
    claim = EVERY[name]
    assert claim.registration is None and claim.effects(claim.variants("small")) == []


def test_the_order_of_the_claims_is_stated() -> None:
    orders = {
        claim.registration.order: name for name, claim in CLAIMS.items() if claim.registration
    }
    assert len(orders) == len(CLAIMS)
    assert [orders[order] for order in sorted(orders)][:6] == [
        "negatives-alpha",
        "negatives-similarity",
        "looc-rotation",
        "looc-color",
        "negatives-byol",
        "negatives-no-jitter",
    ]


def test_claims_share_their_trainings_at_the_laptop_scale() -> None:
    alpha, similarity = keys("negatives-alpha", "laptop"), keys("negatives-similarity", "laptop")
    rotation, color = keys("looc-rotation", "laptop"), keys("looc-color", "laptop")
    jitter = keys("negatives-no-jitter", "laptop")
    assert alpha == similarity
    assert alpha["alpha=0"] == rotation["method=moco"] == color["method=moco"]
    assert alpha["alpha=0"] == jitter["jitter=yes alpha=0"]
    for name in CLAIMS:
        assert not set(keys(name).values()) & set(keys(name, "laptop").values())


@ALL
def test_the_changes_of_the_laptop_scale_reach_every_recipe(claim: Claim) -> None:
    for variant in claim.variants("laptop"):
        varied = claim.recipe(variant, claim.base_recipe("laptop"))
        small = load_recipe(varied)
        recipe = scale_recipe(small, "laptop")
        assert recipe.schedule.epochs == 40 and recipe.encoder.options["stem_type"] == "deep"
        patches = [s for s in getattr(recipe.method, "negatives", ()) if s.name == "patch"]
        assert all(source.schedule.kind == "linear" for source in patches)
        assert len(patches) == ("-patch-" in str(varied))


def test_the_changes_of_a_claim_come_last_and_other_scales_change_nothing() -> None:
    small = load_recipe("moco-v2-patch-shapes")
    assert scale_recipe(small, "laptop", ["schedule.epochs=80"]).schedule.epochs == 80
    assert scale_recipe(small, "small") == small == scale_recipe(small, "paper")
    assert SCALES["laptop"].recipes == "small"


def test_a_claim_without_a_registration_has_all_of_its_variants() -> None:
    assert SmallClaim().registered("laptop") is None
    assert len(SmallClaim().variants("laptop")) == 2


def test_values_of_the_user_replace_the_registered_arms() -> None:
    found = CLAIMS["negatives-alpha"].variants("laptop", {"alpha": ["0", "1"]})
    assert [variant.label for variant in found] == ["alpha=0", "alpha=1"]


def test_an_unknown_scale_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'laptop'"):
        scale_settings("labtop")
