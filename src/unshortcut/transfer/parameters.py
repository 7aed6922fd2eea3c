"""What of an encoder is trained, and with which learning rates."""

from collections import defaultdict
from typing import Any, Literal

from pydantic import Field
from timm.layers import DropPath
from timm.models import group_parameters
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim import Optimizer

from unshortcut.errors import UsageError
from unshortcut.methods.optimization import OptimizerSettings, build_optimizer
from unshortcut.models.encoder import Encoder
from unshortcut.recipes.views import Strict


class TrainedParts(Strict):
    """Which parts of the encoder are trained, and how fast; the head is always trained."""

    encoder: Literal["all", "none"] | int = Field("all")
    """`all`, `none` (a frozen encoder), or the number of its last stages: those of a ResNet after
    the stem, the blocks of a ViT."""
    encoder_lr: float = Field(1.0, gt=0)
    """Learning rate of the encoder relative to that of the head."""
    layer_decay: float = Field(1.0, gt=0, le=1)
    """Factor of the learning rate from each layer to the one below it: a block of a ViT, as in
    MAE's protocols, or a stage of a ResNet (discriminative learning rates)."""
    batch_norm: Literal["train", "frozen"] = "train"
    """Whether batch norms of the encoder use the statistics of the batch, or those that they came
    with; in frozen stages they always keep theirs."""
    drop_path: float = Field(0.0, ge=0, lt=1)
    """Stochastic depth: probability with which the last block of a ViT is skipped for an image in
    training; it rises linearly from 0 at the first block, as in timm and MAE."""


def layers(encoder: Encoder) -> list[list[str]]:
    """Names of the parameters of `encoder.model` by layer, from the input to the output.

    A ViT has one layer per block, after its embedding; a convolutional network one per stage, after
    its stem. What timm counts to no layer, such as a norm in the head, belongs to the last one. A
    network that timm does not know has a single layer.
    """
    model: Any = encoder.model
    names = [name for name, _ in model.named_parameters()]
    if not hasattr(model, "group_matcher"):
        return [names]
    matcher = model.group_matcher(coarse=not hasattr(model, "blocks"))
    found = group_parameters(model, matcher, reverse=True)
    grouped: dict[int, list[str]] = defaultdict(list)
    for name in names:
        grouped[found[name]].append(name)
    ordered = [grouped[number] for number in sorted(grouped)]
    if len(ordered) > 1 and all("norm" in name for name in ordered[-1]):
        last = ordered.pop()
        ordered[-1] += last
    return ordered


def freeze(encoder: Encoder, parts: TrainedParts) -> list[nn.Module]:
    """Switch off the gradients of what is not trained; returns the modules to keep in eval mode."""
    grouped = layers(encoder)
    parameters = dict(encoder.model.named_parameters())
    if parts.encoder == "none":
        kept = 0
    elif parts.encoder == "all":
        kept = len(grouped)
    else:
        if not 1 <= parts.encoder < len(grouped):
            raise UsageError(
                f"train.encoder: this encoder has {len(grouped) - 1} stages, so the last 1 to "
                f"{len(grouped) - 1} can be trained, or all, not {parts.encoder}"
            )
        kept = parts.encoder
    for layer in grouped[: len(grouped) - kept]:
        for name in layer:
            parameters[name].requires_grad_(False)
    if kept == 0:
        return [encoder]
    norms = [module for module in encoder.modules() if isinstance(module, _BatchNorm)]
    if parts.batch_norm == "frozen":
        return list(norms)
    return [one for one in norms if not any(p.requires_grad for p in one.parameters())]


def set_drop_path(encoder: Encoder, rate: float) -> None:
    """Let a ViT of timm skip blocks in training, as if it had been built with `drop_path_rate`."""
    if rate == 0:
        return
    blocks = getattr(encoder.model, "blocks", None)
    if blocks is None or not all(hasattr(block, "drop_path1") for block in blocks):
        raise UsageError("train.drop_path is for ViTs of timm; leave it at 0 for this encoder")
    for number, block in enumerate(blocks):
        own = rate * number / max(len(blocks) - 1, 1)
        block.drop_path1, block.drop_path2 = DropPath(own), DropPath(own)


def build_groups(
    module: nn.Module, encoder: Encoder, settings: OptimizerSettings, parts: TrainedParts
) -> Optimizer:
    """The optimizer of the recipe's settings, with the learning rate of each layer.

    timm's layer decay is for whole models with their classifier; here heads of any kind follow.
    """
    optimizer = build_optimizer(module, settings)
    factors = _factors(encoder, parts)
    if set(factors.values()) <= {1.0}:
        return optimizer
    groups = []
    for group in optimizer.param_groups:
        by_factor: dict[float, list[nn.Parameter]] = defaultdict(list)
        for parameter in group["params"]:
            by_factor[factors.get(id(parameter), 1.0)].append(parameter)
        for factor, members in by_factor.items():
            lr = group["full_lr"] * factor
            groups.append({**group, "params": members, "lr": lr, "full_lr": lr})
    optimizer.param_groups.clear()
    for group in groups:
        optimizer.add_param_group(group)
    return optimizer


def _factors(encoder: Encoder, parts: TrainedParts) -> dict[int, float]:
    """The factor of the learning rate of each parameter of an encoder, by its id."""
    grouped = layers(encoder)
    if parts.layer_decay < 1 and len(grouped) == 1:
        raise UsageError(
            "train.layer_decay needs an encoder whose layers timm knows; leave it at 1 for this one"
        )
    parameters = dict(encoder.model.named_parameters())
    factors: dict[int, float] = {}
    for number, layer in enumerate(grouped):
        # The head has the full rate, the last layer that times the decay, and so on down.
        factor = parts.encoder_lr * parts.layer_decay ** (len(grouped) - number)
        factors |= {id(parameters[name]): factor for name in layer}
    return factors
