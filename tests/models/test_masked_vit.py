"""A ViT that sees some patches: against timm on all of them, and against attention masks."""

import pytest
import timm
import torch
from torch import Tensor

from tests.methods.plain_parts import TINY_VIT
from unshortcut.errors import UsageError
from unshortcut.imaging.patches import take
from unshortcut.models import token_linear
from unshortcut.models.checkpointing import checkpoint_gradients
from unshortcut.models.encoder import Encoder, EncoderSettings, create_encoder
from unshortcut.models.masked_vit import check_norm, patch_grid, pooled, visible_tokens
from unshortcut.models.masking import PatchMask, count_visible, mask_lowest
from unshortcut.models.positions import sincos_positions

SMALL = {"img_size": 24, "patch_size": 8, "embed_dim": 24, "depth": 3, "num_heads": 3}
VITS = {
    "mean token": {**SMALL, "global_pool": "avg", "fc_norm": False},
    "mean token, norm after it": {**SMALL, "global_pool": "avg"},
    "class token": {**SMALL, "global_pool": "token"},
    "registers": {**SMALL, "reg_tokens": 2, "no_embed_class": True},
    "no class token": {**SMALL, "class_token": False, "global_pool": "avg"},
}


def vit(options: dict[str, object], positions: str = "learned") -> Encoder:
    settings = EncoderSettings(name="vit_tiny_patch16_224", options=options, positions=positions)
    return create_encoder(settings, seed=0).double().eval()


def images(count: int = 4, side: int = 24) -> Tensor:
    return torch.randn(
        count, 3, side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )


def visible_patches(encoder: Encoder, mask: PatchMask) -> Tensor:
    return take(patch_grid(encoder).cut(images()), mask.visible)


@pytest.mark.parametrize("positions", ["learned", "sincos"])
@pytest.mark.parametrize("name", VITS)
def test_with_nothing_hidden_it_is_timms_vit(name: str, positions: str) -> None:
    encoder = vit(VITS[name], positions)
    plain = timm.create_model("vit_tiny_patch16_224", num_classes=0, **VITS[name]).double().eval()
    plain.load_state_dict(encoder.model.state_dict())  # strictly
    mask = mask_lowest(torch.rand(4, 9), 9)
    tokens = visible_tokens(encoder, visible_patches(encoder, mask), mask)
    torch.testing.assert_close(tokens, plain.forward_features(images()))
    torch.testing.assert_close(pooled(encoder, tokens), plain(images()))


@pytest.mark.parametrize("name", VITS)
def test_hidden_patches_are_as_if_attention_never_reached_them(name: str) -> None:
    encoder = vit(VITS[name])
    model = encoder.model
    mask = mask_lowest(torch.rand(4, 9, generator=torch.Generator().manual_seed(1)), 4)
    prefix = model.num_prefix_tokens
    seen = torch.cat([torch.ones(4, prefix, dtype=torch.bool), ~mask.is_hidden()], dim=1)
    reachable = seen[:, None, None, :].expand(-1, 1, seen.shape[1], -1)
    whole = model.forward_features(images(), attn_mask=reachable)
    expected = torch.stack([row[kept] for row, kept in zip(whole, seen, strict=True)])
    tokens = visible_tokens(encoder, visible_patches(encoder, mask), mask)
    torch.testing.assert_close(tokens, expected)


def test_in_float32_it_is_timms_vit_too_with_the_gradient_of_its_patches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(token_linear, "prefers_onednn", torch.backends.mkldnn.is_available)
    encoder = vit(SMALL).float()
    plain = timm.create_model("vit_tiny_patch16_224", num_classes=0, **SMALL).eval()
    plain.load_state_dict(encoder.model.state_dict())
    many = images(20).float()
    mask = mask_lowest(torch.rand(20, 9), 9)
    patches = take(patch_grid(encoder).cut(many), mask.visible)
    ours, theirs = visible_tokens(encoder, patches, mask), plain.forward_features(many)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    for tokens in (ours, theirs):
        tokens.square().mean().backward()
    found, expected = (one.patch_embed.proj.weight.grad for one in (encoder.model, plain))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-6)


def test_gradient_checkpointing_gives_the_same_gradients() -> None:
    plain, checkpointed = vit(SMALL), vit(SMALL)
    checkpoint_gradients(checkpointed)
    mask = mask_lowest(torch.rand(4, 9), 4)
    for encoder in (plain, checkpointed):
        patches = visible_patches(encoder, mask)
        visible_tokens(encoder.train(), patches, mask).square().sum().backward()
    for (name, ours), other in zip(
        checkpointed.named_parameters(), plain.parameters(), strict=True
    ):
        torch.testing.assert_close(ours.grad, other.grad, msg=name)


def test_masks_hide_the_lowest_scores_in_ascending_order() -> None:
    mask = mask_lowest(torch.tensor([[0.1, 0.9, 0.5, 0.7], [0.4, 0.3, 0.2, 0.1]]), 2)
    assert mask.visible.tolist() == [[1, 3], [0, 1]]
    assert mask.hidden.tolist() == [[0, 2], [2, 3]]
    assert mask.is_hidden().tolist() == [[True, False, True, False], [False, False, True, True]]


@pytest.mark.parametrize(
    ("patches", "ratio", "visible"), [(196, 0.75, 49), (196, 0.5, 98), (100, 0.9, 10), (9, 0, 9)]
)
def test_the_number_of_visible_patches(patches: int, ratio: float, visible: int) -> None:
    assert count_visible(patches, ratio) == visible


def test_a_ratio_that_leaves_no_patch_is_refused() -> None:
    with pytest.raises(UsageError, match=r"0.95 leaves none of the 16 patches.*at most 0.937"):
        count_visible(16, 0.95)
    assert count_visible(16, 0.937) == 1, "what the message names is possible"


def test_sincos_positions_have_the_channels_of_mae_in_another_order() -> None:
    rows, columns, width = 3, 4, 16
    table = sincos_positions(rows, columns, width, prefix=1)[0].double()
    assert torch.equal(table[0], torch.zeros(width, dtype=torch.float64))
    bands = 10000.0 ** -(torch.arange(width // 4, dtype=torch.float64) / (width // 4))
    for row in range(rows):
        for column in range(columns):
            # MAE, util/pos_embed.py: column first, then row; sines, then cosines
            expected = [
                wave(place * bands) for place in (column, row) for wave in (torch.sin, torch.cos)
            ]
            found = table[1 + row * columns + column].sort().values
            torch.testing.assert_close(found, torch.cat(expected).sort().values, atol=1e-6, rtol=0)
    assert len({tuple(position) for position in table.tolist()}) == 1 + rows * columns


def test_fixed_positions_are_not_trained_and_are_exported_as_plain_weights() -> None:
    encoder = Encoder(TINY_VIT)
    assert not encoder.model.pos_embed.requires_grad
    plain = Encoder(TINY_VIT.trained())
    plain.model.load_state_dict(encoder.model.state_dict())
    assert plain.model.pos_embed.requires_grad
    with pytest.raises(UsageError, match="sincos is for ViTs"):
        Encoder(EncoderSettings(name="resnet18", positions="sincos"))


BAD = {
    "encoder 'deit_tiny_distilled_patch16_224' cannot leave out patches": EncoderSettings(
        name="deit_tiny_distilled_patch16_224", options={"img_size": 32, "depth": 1}
    ),
    "encoder 'resnet18' cannot leave out patches": EncoderSettings(name="resnet18"),
    "patches of 7 pixels do not divide images of 24 × 24": EncoderSettings(
        name="vit_tiny_patch16_224", options={**SMALL, "patch_size": 7}
    ),
    "views.size 24 is not the image size .* set encoder.options.img_size=24": EncoderSettings(
        name="vit_tiny_patch16_224", options={**SMALL, "img_size": 32}
    ),
    "patches must be square": EncoderSettings(
        name="vit_tiny_patch16_224", options={**SMALL, "patch_size": [8, 4]}
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_encoders_that_cannot_be_masked_are_refused(message: str) -> None:
    with pytest.raises(UsageError, match=message):
        patch_grid(Encoder(BAD[message]), 24)


def test_a_norm_after_pooling_is_refused_for_a_decoder() -> None:
    with pytest.raises(UsageError, match="fc_norm: false"):
        check_norm(vit(VITS["mean token, norm after it"]))
    check_norm(vit(VITS["mean token"]))
