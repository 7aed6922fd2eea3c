"""Floating-point operations of a training step of SimCLR, MAE and CAN for large ViTs at 224 px.

    python -m benchmarks.flops [--json FILE]

torch's counter follows a step, forward and backward, on the meta device, so that nothing is
computed; it counts matrix products, convolutions and attention, each multiplication and addition
as one operation. Figures are billions of operations per image: two views for SimCLR and CAN, one
for MAE.
"""

from dataclasses import replace

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.common import json_target, report
from unshortcut.methods.can import CAN
from unshortcut.methods.corruption import Corruption
from unshortcut.methods.mae import MAE
from unshortcut.methods.method import MethodSettings
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.masking import PatchMask
from unshortcut.negatives.queue import QueueSettings
from unshortcut.recipes.load import load_recipe

METHODS = ("simclr", "mae", "can")
SIZES = ("b", "l", "h")
BATCH = 8


def main() -> None:
    target = json_target("flops")
    figures: dict[str, float] = {}
    for size in SIZES:
        for method in METHODS:
            recipe = load_recipe(f"{method}-vit-{size}-imagenet")
            counted = step_flops(recipe.method, recipe.encoder, BATCH) / BATCH
            figures[f"flops_{method}_vit_{size}"] = counted / 1e9
        simclr, can = (figures[f"flops_{name}_vit_{size}"] for name in ("simclr", "can"))
        figures[f"flops_simclr_over_can_vit_{size}"] = simclr / can
    report("flops", figures, ["torch", "timm"], target)


def step_flops(settings: MethodSettings, encoder: EncoderSettings, batch: int) -> int:
    """Operations of the loss of a batch of images and of its gradient."""
    if isinstance(settings, SimCLRSettings):
        # The similarities of as many keys; which of a batch are negatives depends on values.
        settings = replace(settings, negatives=(QueueSettings(2 * batch),))
    with torch.device("meta"):
        method = settings.build(Encoder(encoder)).train()
        side = method.encoder.model.patch_embed.img_size[0]  # type: ignore[union-attr, index]
        views = {name: torch.empty(batch, 3, side, side) for name in settings.view_transforms()}
        counter = FlopCounterMode(display=False)
        with counter:
            if isinstance(method, CAN):
                loss = method.loss_of(views, _corruption(method, 2 * batch)).loss
            elif isinstance(method, MAE):
                loss = method.loss_of(views["query"], _corruption(method, batch)).loss
            else:
                loss = method.loss(Batch(views)).loss
            loss.backward()
    return int(counter.get_total_flops())


def _corruption(method: CAN | MAE, count: int) -> Corruption:
    """A corruption that has shapes and no values."""
    corruptor, grid = method.corruptor, method.grid
    visible = torch.empty(count, corruptor.num_visible, dtype=torch.long)
    hidden = torch.empty(count, grid.count - corruptor.num_visible, dtype=torch.long)
    mask = PatchMask(visible, hidden)
    if corruptor.noise_max is None:
        return Corruption(mask)
    return Corruption(mask, torch.empty(*visible.shape, grid.values), torch.empty(count))


if __name__ == "__main__":
    main()
