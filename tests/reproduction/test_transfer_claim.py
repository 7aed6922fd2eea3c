"""The claim on transfer: its arms are trainings of other claims, and the papers' numbers."""

from statistics import fmean

import pytest

from tests.reproduction.test_claims import CLAIMS, effects_of_the_paper, keys, printed
from unshortcut.errors import UsageError
from unshortcut.reproduction.claim import Scale

CLAIM = CLAIMS["transfer"]
SETS = ("aircraft", "birds", "dogs", "cars", "dtd")
GAIN = "method=anisotropic - method=moco"


def test_its_trainings_are_those_of_other_registered_claims() -> None:
    own, alpha = keys("transfer", "laptop"), keys("negatives-alpha", "laptop")
    texture = keys("texture-moco", "laptop")
    assert own == {
        "method=moco": alpha["alpha=0"],
        "method=patch": alpha["alpha=2"],
        "method=anisotropic": texture["images=anisotropic"],
    }
    seeds = [CLAIMS[name].registration for name in ("transfer", "negatives-alpha", "texture-moco")]
    assert all(seeds) and seeds[0].seeds == min(one.seeds for one in seeds if one)  # type: ignore[union-attr]


@pytest.mark.parametrize(("scale", "alpha"), [("small", "alpha=3"), ("laptop", "alpha=2")])
def test_alpha_is_that_of_the_scale(scale: Scale, alpha: str) -> None:
    assert keys("transfer", scale)["method=patch"] == keys("negatives-alpha", scale)[alpha]


def test_sketches_stand_next_to_the_mean_of_table_2_2() -> None:
    found = effects_of_the_paper("transfer")
    gains = []
    for name in SETS:
        one = found[f"finetuned_{name}: {GAIN}"]
        plain, diffused = (
            printed(f"moco-v2-{kind}imagenet:{name}_top1") for kind in ("", "anisotropic-doubled-")
        )
        assert one.paper == pytest.approx(diffused - plain)
        gains.append(diffused - plain)
    mean = found[f"finetuned_sketch: {GAIN}"]
    assert mean.paper == pytest.approx(fmean(gains)) == pytest.approx(1.416)
    assert mean.verdict == "appears"
    assert found[f"finetuned_scenes: {GAIN}"].paper == pytest.approx(83.7 - 82.4)
    patches = found["sketch: method=patch - method=moco"]
    assert patches.paper == pytest.approx(18.58 - 17.47)
    assert patches.verdict is None, "negatives-alpha decides it"


def test_other_data_have_recipes_of_their_own() -> None:
    recipes = [CLAIM.recipe(v, "moco-v2-imagenette") for v in CLAIM.variants("small")]
    assert recipes == [f"moco-v2-{kind}imagenette" for kind in ("", "patch-", "anisotropic-")]
    with pytest.raises(UsageError, match="did you mean 'moco-v2-imagenette'"):
        CLAIM.recipe(CLAIM.variants("small")[0], "moco-v2-imagenete")
