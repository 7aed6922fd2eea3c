"""Gradient checkpointing: the same loss, gradients and statistics, with activations made twice."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.models.batchnorm import split_batch_norm
from unshortcut.models.checkpointing import checkpoint_gradients, recomputation
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder

VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    options={
        "img_size": 24, "patch_size": 8, "embed_dim": 24, "depth": 4, "num_heads": 2,
        "drop_path_rate": 0.5,
    },
)  # fmt: skip
MOBILE = EncoderSettings(name="mobilenetv3_small_050")  # activations inside batch norms
ENCODERS = {
    "resnet": TINY,
    "resnet with drop path": TINY.model_copy(
        update={"options": {**TINY.options, "drop_path_rate": 0.5}}
    ),
    "vit": VIT,
    "fused activations": MOBILE,
    "branched resnet": TINY.model_copy(update={"branches": 2}),
    "branched vit": VIT.model_copy(update={"branches": 2}),
    "color split": TINY.model_copy(update={"color_split": True}),
}


def trained(settings: EncoderSettings, groups: int, checkpointed: bool) -> tuple[Encoder, Any]:
    """An encoder after two steps of SGD, with its losses and gradients; two views per step."""
    encoder = create_encoder(settings, seed=0)
    split_batch_norm(encoder, groups)
    encoder.double()
    if checkpointed:
        checkpoint_gradients(encoder)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(1)
    losses = []
    for _ in range(2):
        first, second = torch.rand(2, 8, 3, 24, 24, dtype=torch.float64)
        loss = (encoder(first) - encoder(second)).square().mean() + encoder(first).square().mean()
        optimizer.zero_grad()
        with recomputation(encoder):
            loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return encoder, (losses, [parameter.grad for parameter in encoder.parameters()])


@pytest.mark.parametrize(
    ("name", "groups"),
    [*((name, 1) for name in ENCODERS), ("resnet", 4), ("fused activations", 4)],
)
def test_losses_gradients_and_every_buffer_are_the_same_to_the_bit(name: str, groups: int) -> None:
    plain, expected = trained(ENCODERS[name], groups, checkpointed=False)
    checkpointed, found = trained(ENCODERS[name], groups, checkpointed=True)
    for ours, theirs in zip(found, expected, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
    ours, theirs = checkpointed.state_dict(), plain.state_dict()
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        assert torch.equal(ours[key], value), key
    counts = [value for key, value in ours.items() if key.endswith("num_batches_tracked")]
    assert all(int(count) == 6 for count in counts), "two steps with three forward passes"


def test_without_the_context_statistics_would_be_updated_twice() -> None:
    """What the context is for; this fails if timm or torch come to prevent it themselves."""
    encoder = create_encoder(TINY, seed=0)
    checkpoint_gradients(encoder)
    encoder(torch.rand(4, 3, 24, 24)).sum().backward()
    assert int(encoder.get_buffer("model.layer1.0.bn1.num_batches_tracked")) == 2


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        (TINY, "layer3.0.conv1"),
        (VIT, "blocks.2.mlp"),
        (ENCODERS["branched resnet"], "branches.1.0.conv1"),
        (ENCODERS["branched vit"], "branches.1.0.3.mlp"),
        (ENCODERS["color split"], "color.layer3.0.conv1"),
    ],
)
def test_activations_are_made_again_in_the_backward_pass(
    settings: EncoderSettings, path: str
) -> None:
    encoder = create_encoder(settings, seed=0)
    calls: list[nn.Module] = []
    encoder.model.get_submodule(path).register_forward_pre_hook(lambda m, _: calls.append(m))
    for expected in (1, 2):
        calls.clear()
        loss = encoder(torch.rand(4, 3, 24, 24)).sum()
        assert len(calls) == 1
        loss.backward()
        assert len(calls) == expected
        checkpoint_gradients(encoder)


def test_a_model_that_timm_cannot_checkpoint_is_refused_by_name() -> None:
    encoder = create_encoder(EncoderSettings(name="dla46_c"), seed=0)
    with pytest.raises(UsageError, match=r"timm cannot checkpoint 'dla46_c'"):
        checkpoint_gradients(encoder)
