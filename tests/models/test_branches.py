"""Branches: one trunk, the last stage several times over, and how one branch is taken out again."""

import pytest
import timm
import torch
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.models.branches import Branched, branch_state
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder

RESNET = EncoderSettings(
    name="resnet18", options={"layers": [1, 1, 1, 1], "channels": [8, 8, 16, 16]}
)
VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    options={"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 8, "num_heads": 2},
)


def branched(settings: EncoderSettings, count: int) -> Encoder:
    return create_encoder(settings.model_copy(update={"branches": count}), seed=0).eval()


@pytest.mark.parametrize(("settings", "width"), [(RESNET, 16), (VIT, 24)])
def test_a_branch_is_the_network_with_its_own_last_stage(
    settings: EncoderSettings, width: int
) -> None:
    encoder = branched(settings, 3)
    model = encoder.model
    assert isinstance(model, Branched)
    images = torch.randn(2, 3, 32, 32)
    features = encoder(images)
    assert features.shape == (2, 3 * width) and encoder.dim == 3 * width
    for place in range(3):
        alone = Encoder(settings).eval()
        branch_state(model.state_dict(), [place], alone.model)
        part = features[:, width * place : width * (place + 1)]
        torch.testing.assert_close(alone(images), part)
        # what comes out is timm's own model: its names, its forward pass
        plain = timm.create_model(settings.name, num_classes=0, **_tuples(settings.options))
        plain.load_state_dict(alone.model.state_dict())
        torch.testing.assert_close(plain.eval()(images), part, rtol=1e-4, atol=1e-5)


def _tuples(options: dict[str, object]) -> dict[str, object]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}


def test_some_branches_make_a_smaller_encoder() -> None:
    encoder, images = branched(RESNET, 3), torch.randn(2, 3, 32, 32)
    fewer = Encoder(RESNET.model_copy(update={"branches": 2})).eval()
    branch_state(encoder.model.state_dict(), [0, 2], fewer.model)
    expected = encoder(images).view(2, 3, 16)[:, [0, 2]].flatten(1)
    torch.testing.assert_close(fewer(images), expected)


def test_branches_begin_apart_and_share_the_trunk() -> None:
    encoder = branched(RESNET, 2)
    first, second = (list(branch.parameters()) for branch in encoder.model.branches)  # type: ignore[union-attr]
    assert not torch.equal(first[0], second[0])
    whole = sum(p.numel() for p in encoder.parameters())
    one = sum(p.numel() for p in branched(RESNET, 1).parameters())
    assert whole == one + sum(p.numel() for p in second)


@pytest.mark.parametrize(("settings", "blocks"), [(VIT, 2)])
def test_a_branch_of_a_vit_is_the_last_quarter_of_its_blocks(
    settings: EncoderSettings, blocks: int
) -> None:
    model = branched(settings, 2).model
    assert isinstance(model, Branched)
    assert len(model.trunk.blocks) == 8 - blocks  # type: ignore[arg-type]
    assert len(model.branches[0][0]) == blocks  # type: ignore[index]


def test_the_map_before_pooling_pools_to_the_features() -> None:
    encoder, images = branched(RESNET, 2), torch.randn(2, 3, 64, 64)
    torch.testing.assert_close(encoder.feature_maps(images).mean(dim=(2, 3)), encoder(images))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "convnext_atto", "options": {}}, "ResNets and ViTs"),
        ({"name": "cait_xxs24_224", "options": {"depth": 2}}, "ResNets and ViTs"),
        ({"color_split": True}, "exclude each other"),
    ],
)
def test_what_has_no_branches_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Encoder(RESNET.model_copy(update={"branches": 2, **changes}))


def test_the_encoder_without_branches_is_timm_s() -> None:
    assert not isinstance(branched(RESNET, 1).model, Branched)
    assert isinstance(branched(RESNET, 1).model.layer4, nn.Sequential)
