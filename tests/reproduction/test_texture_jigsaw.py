"""The claim on Jigsaw: what its variants filter, and the numbers of the paper next to them."""

import pytest

from tests.reproduction.test_claims import effects_of_the_paper, printed
from tests.reproduction.test_texture_claims import recipe_of
from unshortcut.recipes.load import to_mapping
from unshortcut.reproduction.claim import Scale, get_claim

NAME, DIFFUSION, STYLE = "texture-jigsaw", "anisotropic_diffusion", "texture_randomization"


@pytest.mark.parametrize("scale", ["small", "paper"])
@pytest.mark.parametrize(
    ("kind", "images", "tiles"),
    [
        ("original", None, None),
        ("anisotropic", DIFFUSION, None),
        ("patchwise", None, DIFFUSION),
        ("stylized", STYLE, None),
    ],
)
def test_whole_images_or_single_tiles_are_filtered(
    kind: str, images: str | None, tiles: str | None, scale: Scale
) -> None:
    recipe = to_mapping(recipe_of(NAME, f"images={kind}", scale))
    plain = to_mapping(recipe_of(NAME, "images=original", scale))
    for found, usual, filtered in (
        (recipe["views"]["augmentations"], plain["views"]["augmentations"], images),
        (recipe["method"]["tile_augmentations"], plain["method"]["tile_augmentations"], tiles),
    ):
        assert [one for one in found if one not in usual] == [
            one for one in found if one["name"] == filtered
        ]
        assert len(found) - len(usual) == (filtered is not None)
    assert recipe["data"] == plain["data"] and recipe["schedule"] == plain["schedule"]


def test_the_numbers_of_the_paper_stand_beside_ours() -> None:
    found = effects_of_the_paper(NAME)["test: images=anisotropic - images=original"]
    key = ":voc_classification"
    expected = printed("jigsaw-anisotropic-imagenet" + key) - printed("jigsaw-imagenet" + key)
    assert found.mean == pytest.approx(expected) and found.verdict == "appears"
    claim = get_claim(NAME)
    by_tile = [e.paper for e in claim.effects(claim.variants("laptop")) if e.paper is not None]
    assert by_tile == [0.6, 1.1]
