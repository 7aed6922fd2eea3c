"""Steps of MAE, CAN and SimCLR with a small ViT: their time, and their counted operations.

`step_mae_vs_lightly` compares a step of MAE with the same step built from lightly's modules: the
same ViT of timm (64 px, patches of 8, width 128, depth 6), decoder (four blocks of half the width),
mask ratio, targets and optimizer. In its example, lightly predicts pixels as they are; so do we.
Linear layers are each library's own: ours are those of `models/token_linear.py`.

`can_time_over_flops` is the time of a step of CAN divided by that of SimCLR, over the same ratio of
counted operations: 1.0 means that CAN is as much cheaper as arithmetic says.

`token_linear_vs_linear` compares the widest layer of the small ViT, forward and backward on the
tokens of both views, with torch's (`models/token_linear.py`; 1.0 on Intel CPUs, where it is the
same).
"""

from collections.abc import Callable
from copy import deepcopy
from statistics import median

import timm
import torch
from torch import nn

from benchmarks.common import Paired, alternate
from benchmarks.flops import step_flops
from benchmarks.step_lightly import Step, Views, lightly_mae
from unshortcut.methods.can import CANSettings
from unshortcut.methods.mae import MAESettings
from unshortcut.methods.method import Method
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.models.masked_decoder import DecoderSettings
from unshortcut.models.token_linear import use_token_linear

BATCH, PIXELS = 64, 64
VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    positions="sincos",
    options={
        "img_size": PIXELS, "patch_size": 8, "embed_dim": 128, "depth": 6, "num_heads": 4,
        "global_pool": "avg", "fc_norm": False,
    },
)  # fmt: skip
DECODER = DecoderSettings(width=64, depth=4, heads=2)
SIMCLR = SimCLRSettings(hidden=512)
CAN = CANSettings(hidden=512, head_layers=2, decoder=DECODER)
MAE = MAESettings(decoder=DECODER, standardize=False)
StepOf = Callable[[Method, Views], Step]
"""From a method and views to its step."""


def mae_vs_lightly(our_step: StepOf, rounds: int) -> Paired:
    """A step of MAE and lightly's, on the same views."""
    views = _views("query")
    vit = timm.create_model(VIT.name, num_classes=0, **VIT.options)
    vit.load_state_dict(Encoder(VIT).model.state_dict())
    vit.pos_embed.requires_grad_(False)
    theirs = lightly_mae(vit, MAE, views["query"])
    return alternate(our_step(MAE.build(Encoder(VIT)), views), theirs, 1, rounds)


def can_time_over_flops(our_step: StepOf, rounds: int) -> dict[str, float]:
    """How the times of CAN and SimCLR compare with their operations."""
    views = _views("query", "key")
    can, simclr = CAN.build(Encoder(VIT)), SIMCLR.build(Encoder(VIT))
    timed = alternate(our_step(simclr, views), our_step(can, views), 1, rounds)
    time_ratio = timed.ratio  # CAN's time over SimCLR's
    flops_ratio = step_flops(CAN, VIT, BATCH) / step_flops(SIMCLR, VIT, BATCH)
    return {
        "step_seconds_can": median(timed.peer),
        "step_seconds_simclr_vit": median(timed.ours),
        "can_time_ratio": time_ratio,
        "can_flops_ratio": flops_ratio,
        "can_time_over_flops": time_ratio / flops_ratio,
    }


def token_linear_vs_linear(rounds: int) -> Paired:
    """The first layer of an MLP of the ViT, and torch's own."""
    plain = nn.Linear(128, 512)
    ours = deepcopy(plain)
    use_token_linear(ours)
    tokens = torch.randn(2 * BATCH, 65, 128, requires_grad=True)
    gradient = torch.randn(2 * BATCH, 65, 512)

    def pass_through(layer: nn.Module) -> Step:
        return lambda _: layer(tokens).backward(gradient)

    return alternate(pass_through(ours), pass_through(plain), 20, rounds)


def _views(*names: str) -> Views:
    return {name: torch.randn(BATCH, 3, PIXELS, PIXELS) for name in names}
