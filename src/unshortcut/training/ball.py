"""The points that a run of hyperbolic learning gives to images, beside its features."""

import hashlib
from dataclasses import replace
from pathlib import Path

from unshortcut.models.ball_head import BallHead
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.wrapping import fingerprint
from unshortcut.recipes.reading import read_recipe
from unshortcut.training.folder import RunFolder


def with_ball(model: LoadedModel, run: str | Path) -> LoadedModel:
    """The model of a run with its head for the Poincaré ball.

    The exported encoder has no head, so the weights come from the checkpoint. The model is returned
    as it is for runs of other methods, without the hyperbolic loss, or without their checkpoint.
    """
    folder = RunFolder(Path(run)).last_phase
    if not folder.recipe.is_file() or not folder.checkpoint.is_file():
        return model
    if not read_recipe(folder.recipe).get("method", {}).get("hyperbolic_weight"):
        return model
    from unshortcut.methods.hcl import HCL  # imports Lightning
    from unshortcut.models.dense_heads import ImageAndDenseHeads
    from unshortcut.training.projection import load_method

    method, _ = load_method(run)
    if not isinstance(method, HCL):
        return model
    head = method.head.image if isinstance(method.head, ImageAndDenseHeads) else method.head
    ball = BallHead(head.eval().to(model.device), method.settings.curvature)
    # What is measured depends on the head as well.
    parts = (model.fingerprint, fingerprint(ball.head), ball.curvature)
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return replace(model, ball=ball, fingerprint=model.fingerprint and digest)
