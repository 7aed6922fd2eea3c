"""AdaIN from a weights file, against the same networks built as torch modules."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.imaging.adain import AdaIN, adaptive_instance_norm, load_adain


def vgg(*channels: int | str) -> nn.Sequential:
    """The normalized VGG in its usual sequential form, padding and pooling being layers."""
    layers: list[nn.Module] = [nn.Conv2d(3, 3, 1)]
    last = 3
    for entry in channels:
        if isinstance(entry, str):
            layers.append(nn.MaxPool2d(2, ceil_mode=True))
        else:
            layers += [nn.ReflectionPad2d(1), nn.Conv2d(last, entry, 3), nn.ReLU()]
            last = entry
    return nn.Sequential(*layers)


def decoder(*channels: int | str) -> nn.Sequential:
    layers: list[nn.Module] = []
    last = 512
    for entry in channels:
        if isinstance(entry, str):
            layers.append(nn.Upsample(scale_factor=2, mode="nearest"))
        else:
            layers += [nn.ReflectionPad2d(1), nn.Conv2d(last, entry, 3), nn.ReLU()]
            last = entry
    return nn.Sequential(*layers[:-1])


@pytest.fixture(scope="module")
def networks() -> nn.ModuleDict:
    torch.manual_seed(0)
    made = nn.ModuleDict(
        {
            "encoder": vgg(64, 64, "-", 128, 128, "-", 256, 256, 256, 256, "-", 512),
            "decoder": decoder(256, "+", 256, 256, 256, 128, "+", 128, 64, "+", 64, 3),
        }
    )
    for module in made.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
    nn.init.constant_(made["decoder"][-1].bias, 0.5)  # type: ignore[index, arg-type, union-attr]
    return made.requires_grad_(False)


@pytest.fixture(scope="module")
def weights(networks: nn.ModuleDict) -> dict[str, Tensor]:
    return dict(networks.state_dict())


@pytest.fixture(scope="module")
def model(weights: dict[str, Tensor], tmp_path_factory: pytest.TempPathFactory) -> AdaIN:
    path = tmp_path_factory.mktemp("adain") / "adain.safetensors"
    save_file(weights, path)
    return load_adain(path)


def image(seed: int, height: int, width: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def reference(
    networks: nn.ModuleDict, content: np.ndarray, style: np.ndarray, alpha: float
) -> np.ndarray:
    """Huang and Belongie's Eq. 8 and 14, step by step, for sides that are multiples of 8."""

    def encode(array: np.ndarray) -> Tensor:
        pixels = torch.tensor(array.astype(np.float32) / 255).permute(2, 0, 1)[None]
        return networks["encoder"](pixels)  # type: ignore[no-any-return]

    x, y = encode(content), encode(style)
    moved = torch.empty_like(x)
    for channel in range(512):
        a, b = x[0, channel], y[0, channel]
        deviation = a.std(correction=0) + 1e-5
        moved[0, channel] = b.std(correction=0) * (a - a.mean()) / deviation + b.mean()
    out = networks["decoder"](alpha * moved + (1 - alpha) * x)[0].permute(1, 2, 0).numpy()
    return np.clip(np.floor(out * 255 + 0.5), 0, 255)


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_stylized_images_are_those_of_the_modules(
    networks: nn.ModuleDict, model: AdaIN, alpha: float
) -> None:
    content, style = image(0, 40, 56), image(1, 48, 32)
    out = model.stylize(content, style, alpha=alpha)
    expected = reference(networks, content, style, alpha)
    assert out.dtype == np.uint8
    assert np.ptp(expected) > 50
    assert np.abs(out - expected).max() <= 1


def test_without_style_the_image_is_encoded_and_decoded(
    networks: nn.ModuleDict, model: AdaIN
) -> None:
    content = image(0, 32, 32)
    pixels = torch.tensor(content / 255, dtype=torch.float32).permute(2, 0, 1)[None]
    plain = networks["decoder"](networks["encoder"](pixels))[0].permute(1, 2, 0).numpy()
    out = model.stylize(content, image(1, 32, 32), alpha=0.0)
    assert np.abs(out - np.clip(plain * 255, 0, 255)).max() <= 1


def test_features_get_the_mean_and_deviation_of_the_style_s() -> None:
    torch.manual_seed(0)
    content, style = torch.randn(2, 7, 9, 11) * 3 + 1, torch.randn(2, 7, 5, 6) * 0.5 - 2
    out = adaptive_instance_norm(content, style)
    torch.testing.assert_close(out.mean((2, 3)), style.mean((2, 3)), atol=1e-4, rtol=0)
    wanted = style.std((2, 3), correction=0)
    torch.testing.assert_close(out.std((2, 3), correction=0), wanted, atol=1e-4, rtol=0)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (3, 2), (8, 8), (9, 15), (17, 8), (33, 20)])
def test_images_and_styles_of_any_size(model: AdaIN, size: tuple[int, int]) -> None:
    assert model.stylize(image(0, *size), image(1, 13, 10)).shape == (*size, 3)
    assert model.stylize(image(0, 13, 10), image(1, *size)).shape == (13, 10, 3)


def test_sides_that_are_no_multiple_of_eight_are_padded_by_reflection(model: AdaIN) -> None:
    content, style = image(0, 21, 30), image(1, 16, 16)
    padded = np.pad(content, ((0, 3), (0, 2), (0, 0)), mode="reflect")
    expected = model.stylize(padded, style)[:21, :30]
    np.testing.assert_array_equal(model.stylize(content, style), expected)


@pytest.mark.parametrize("ending", ["pt", "pth"])
def test_a_file_of_torch_is_read_too(
    weights: dict[str, Tensor], model: AdaIN, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"adain.{ending}"
    torch.save({name: tensor.double() for name, tensor in weights.items()}, path)
    content, style = image(0, 16, 16), image(1, 16, 16)
    expected = model.stylize(content, style)
    np.testing.assert_array_equal(load_adain(path).stylize(content, style), expected)


def changed(weights: Mapping[str, Tensor], **new: Tensor | None) -> dict[str, Tensor]:
    every = {**weights, **{name.replace("__", "."): tensor for name, tensor in new.items()}}
    return {name: tensor for name, tensor in every.items() if tensor is not None}


def test_what_is_wrong_with_a_file_is_said(weights: dict[str, Tensor], tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    with pytest.raises(UsageError, match=r"the AdaIN weights file .* does not exist"):
        load_adain(path)
    save_file(changed(weights, decoder__14__bias=None), path)
    with pytest.raises(UsageError, match=r"has no tensor 'decoder\.14\.bias'"):
        load_adain(path)
    save_file(changed(weights, encoder__9__weight=torch.zeros(128, 64, 1, 1)), path)
    with pytest.raises(
        UsageError, match=r"'encoder\.9\.weight' must have the shape \(128, 64, 3, 3\)"
    ):
        load_adain(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(UsageError, match="cannot be read as weights"):
        load_adain(path)
    other = tmp_path / "w.pth"
    other.write_bytes(b"nothing of the kind")
    with pytest.raises(UsageError, match="cannot be read as weights"):
        load_adain(other)
    torch.save([1, 2], other)
    with pytest.raises(UsageError, match="contains a list"):
        load_adain(other)
    torch.save(nn.Linear(1, 1), other)  # a pickled object could run code
    with pytest.raises(UsageError, match="cannot be read as weights"):
        load_adain(other)
