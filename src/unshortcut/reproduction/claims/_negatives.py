"""What the claims on non-semantic negatives share: recipes, keys, columns. Equal trainings are one.

The paper is NSN: Ge et al., Robust Contrastive Learning Using Negative Samples with Diminished
Semantics, 2021.
"""

from collections.abc import Mapping

from unshortcut.reproduction.claim import Axis, Column, Scale, setting
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.readout import Readout
from unshortcut.reproduction.measures.transfer import Transfer

MOCO: Mapping[Scale, str] = {
    "small": "moco-v2-patch-shapes",
    "paper": "moco-v2-patch-a2-imagenet100",
}
"""MoCo-v2 with patch negatives."""
PATCH_ALPHA: Mapping[Scale, float] = {"small": 3, "paper": 2}
"""The papers' alpha, and the one of the small recipe, which was chosen on drawings of another seed:
with so small a bank and encoder, 2 moves nothing yet and 5 is too much."""
ALPHA = "method.negatives.patch.alpha"

TEST = Column("test", "test", "ImageNet-100")
SKETCH = Column("sketch", "sketch", "ImageNet-Sketch")
SILHOUETTE = Column("silhouette", "silhouette")
STYLIZED = Column("stylized", "stylized", "Stylized-ImageNet")
SHAPE_BIAS = Column("shape_bias", "shape bias")
TEXTURE = Column("texture", "texture only")
COLUMNS = (TEST, SKETCH, SILHOUETTE, STYLIZED, TEXTURE, SHAPE_BIAS)

ACCURACIES: tuple[Measure, ...] = (Readout(), Transfer())


def alphas(*values: float) -> Axis:
    """The axis of alpha; 0 is without patch negatives."""
    return setting("alpha", ALPHA, values)


def patch_alpha(values: Mapping[str, str]) -> str:
    """The alpha of the papers' tables that stands beside a variant's: for 3 also 2, see above."""
    usual = float(values["alpha"]) in PATCH_ALPHA.values()
    return "2" if usual else values["alpha"]


ALPHA_NOTE = "On shapes alpha is 3; the paper's metrics beside it are those of its alpha 2."
