"""MoCo-v2, with patch negatives and with diffused views: the arms that claims of both papers share.

The claims compare recipes: `--recipe` names that of MoCo-v2 without changes, such as
`moco-v2-imagenette`, and the other arms use the recipes for the same data.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unshortcut.errors import unknown
from unshortcut.reproduction.claim import Axis, Claim, Scale, Variant, choices
from unshortcut.reproduction.claims import _negatives as nsn

if TYPE_CHECKING:
    from unshortcut.recipes.load import AnyRecipe

MOCO, PATCH, ANISOTROPIC = "moco", "patch", "anisotropic"
RECIPES: Mapping[str, Mapping[str, str]] = {
    "moco-v2-shapes": {
        MOCO: "moco-v2-shapes",
        PATCH: "moco-v2-patch-shapes",
        ANISOTROPIC: "moco-v2-anisotropic-shapes",
    },
    "moco-v2-imagenette": {
        MOCO: "moco-v2-imagenette",
        PATCH: "moco-v2-patch-imagenette",
        ANISOTROPIC: "moco-v2-anisotropic-imagenette",
    },
    "moco-v2-imagenet": {
        MOCO: "moco-v2-imagenet",
        PATCH: "moco-v2-patch-a2-imagenet",
        ANISOTROPIC: "moco-v2-anisotropic-imagenet",
    },
}
"""By recipe of the plain method: the recipe of each arm."""


def label(arm: str) -> str:
    """The label of the variant of an arm."""
    return f"method={arm}"


class MocoArmsClaim(Claim):
    """A claim that compares the three arms."""

    x = "method"
    protocol = "moco"

    def axes(self, scale: Scale) -> tuple[Axis, ...]:
        # Trainings are shared with the claims on patch negatives, which have this alpha there.
        patch = (nsn.LAPTOP_ALPHA,) if scale == "laptop" else ()
        return (choices("method", {MOCO: (), PATCH: patch, ANISOTROPIC: ()}),)

    def recipe(self, variant: Variant, base: "AnyRecipe") -> "AnyRecipe":
        if not isinstance(base, str) or base not in RECIPES:
            raise unknown("recipe of the method without changes", str(base), RECIPES)
        return RECIPES[base][variant.values["method"]]
