"""WRN-40-2: parameters by formula, a plain transcription, and a place among timm's models."""

import timm
import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.models.encoder import EncoderSettings, create_encoder

SETTINGS = EncoderSettings(name="wrn_40_2", options={"drop_rate": 0.3})


def test_it_has_as_many_parameters_as_the_paper_says() -> None:
    count = 3 * 16 * 9  # the stem
    channels = 16
    for width in (32, 64, 128):
        for block in range(6):
            before = width if block else channels
            count += 2 * before + 9 * before * width + 2 * width + 9 * width**2
            count += 0 if block else before * width  # the shortcut
        channels = width
    count += 2 * 128 + 128 * 10 + 10
    model = timm.create_model("wrn_40_2", num_classes=10)
    assert sum(p.numel() for p in model.parameters()) == count == 2_243_546, "2.2 M"
    assert sum(isinstance(m, torch.nn.Conv2d) for m in model.modules()) == 40


def test_features_are_those_of_a_plain_transcription() -> None:
    encoder = create_encoder(SETTINGS, seed=0).double()
    state = dict(encoder.model.state_dict())
    generator = torch.Generator().manual_seed(0)
    for value in state.values():  # so that batch norms do something
        if value.ndim == 1:
            value.copy_(torch.rand(value.shape, generator=generator, dtype=value.dtype) + 0.5)

    def norm(x: Tensor, name: str) -> Tensor:
        mean, var, scale, shift = (
            state[f"{name}.{key}"][:, None, None]
            for key in ("running_mean", "running_var", "weight", "bias")
        )
        return ((x - mean) / (var + 1e-5).sqrt() * scale + shift).clamp(min=0)

    images = torch.randn(2, 3, 16, 16, dtype=torch.float64, generator=generator)
    x = F.conv2d(images, state["conv1.weight"], padding=1)
    for stage in range(3):
        for block in range(6):
            name, stride = f"stages.{stage}.{block}", 2 if stage > 0 and block == 0 else 1
            a = norm(x, f"{name}.bn1")
            y = F.conv2d(a, state[f"{name}.conv1.weight"], stride=stride, padding=1)
            y = F.conv2d(norm(y, f"{name}.bn2"), state[f"{name}.conv2.weight"], padding=1)
            if block == 0:
                x = F.conv2d(a, state[f"{name}.shortcut.weight"], stride=stride)
            x = x + y
    maps = norm(x, "bn")
    assert maps.shape == (2, 128, 4, 4) and encoder.dim == 128
    encoder.eval()
    torch.testing.assert_close(encoder(images), maps.flatten(2).mean(2))
    torch.testing.assert_close(encoder.feature_maps(images), maps)


def test_dropout_is_for_training_only() -> None:
    encoder, images = create_encoder(SETTINGS, seed=0), torch.randn(2, 3, 16, 16)
    assert not torch.equal(encoder(images), encoder(images))
    encoder.eval()
    assert torch.equal(encoder(images), encoder(images))
    rates = {m.p for m in encoder.modules() if isinstance(m, torch.nn.Dropout)}
    assert rates == {0.3}
