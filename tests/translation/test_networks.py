"""The networks of Pix2Pix: as published, for images of any size."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.parts import build
from unshortcut.translation.discriminator import DiscriminatorSettings, PatchDiscriminator
from unshortcut.translation.generator import Generator
from unshortcut.translation.residual import ResidualGenerator, ResidualSettings
from unshortcut.translation.unet import UNetGenerator, UNetSettings


def size_of(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def randomized(network: Generator) -> Generator:
    """In eval mode, with running statistics that are not those of the start."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean = torch.randn(module.num_features)
            module.running_var = torch.rand(module.num_features) + 0.5
    return network.double().eval()


def test_the_published_networks_have_the_published_number_of_parameters() -> None:
    with torch.device("meta"):
        assert size_of(UNetSettings().fitted(256).build()) == 54_413_955  # 54.41 M
        assert size_of(UNetSettings().fitted(128).build()) == 41_828_995  # U-Net-128: 41.83 M
        assert size_of(PatchDiscriminator(DiscriminatorSettings())) == 2_768_705  # 2.77 M


@pytest.mark.parametrize(("layers", "patch"), [(3, 70), (2, 34), (1, 16)])
def test_one_output_of_the_discriminator_sees_a_patch_of_the_stated_size(
    layers: int, patch: int
) -> None:
    settings = DiscriminatorSettings(layers, width=2, batch_norm=False)
    assert settings.patch == patch
    torch.manual_seed(0)
    network = PatchDiscriminator(settings).double()
    image = torch.randn(1, 3, 128, 128, dtype=torch.float64, requires_grad=True)
    logits = network(image, image)
    middle = logits.shape[-1] // 2
    logits[0, 0, middle, middle].backward()
    assert image.grad is not None
    rows = image.grad.abs().sum(dim=(0, 1, 3)).nonzero().flatten()
    assert int(rows.max() - rows.min()) + 1 == patch


def test_the_discriminator_of_256_pixels_judges_30_by_30_patches() -> None:
    with torch.device("meta"):
        images = torch.zeros(1, 3, 256, 256)
        assert PatchDiscriminator(DiscriminatorSettings())(images, images).shape == (1, 1, 30, 30)


def test_the_u_net_is_nested_blocks_that_pass_on_their_input() -> None:
    torch.manual_seed(0)
    network = randomized(UNetGenerator(width=4, depth=6))
    assert isinstance(network, UNetGenerator)
    depth = len(network.down)

    def norm(x: Tensor, module: nn.BatchNorm2d) -> Tensor:
        shape = (1, -1, 1, 1)
        assert module.running_mean is not None and module.running_var is not None
        scaled = (x - module.running_mean.view(shape)) / (module.running_var + 1e-5).view(
            shape
        ).sqrt()
        return scaled * module.weight.view(shape) + module.bias.view(shape)

    def block(x: Tensor, level: int) -> Tensor:
        """What a level returns: its result beside its input, unless it is the outermost."""
        down: nn.Sequential = network.down[level]  # type: ignore[assignment]
        up: nn.Sequential = network.up[level]  # type: ignore[assignment]
        outermost, innermost = level == 0, level == depth - 1
        inner = x if outermost else torch.where(x > 0, x, 0.2 * x)
        inner = F.conv2d(inner, down[0].weight, stride=2, padding=1)
        if not outermost and not innermost:
            inner = norm(inner, down[1])
        if not innermost:
            inner = block(inner, level + 1)
        result = F.conv_transpose2d(
            inner.clamp(min=0), up[0].weight, up[0].bias, stride=2, padding=1
        )
        if outermost:
            return torch.tanh(result)
        return torch.cat([x, norm(result, up[1])], dim=1)

    images = torch.randn(2, 3, 64, 128, dtype=torch.float64)
    torch.testing.assert_close(network(images), block(images, 0))


def test_dropout_and_initial_weights_are_those_of_the_published_code() -> None:
    torch.manual_seed(0)
    network = UNetGenerator(width=8, depth=8)
    dropped = [level for level, up in enumerate(network.up) if isinstance(up[-1], nn.Dropout)]  # type: ignore[index]
    assert dropped == [4, 5, 6]
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.ConvTranspose2d)]
    weights = torch.cat([one.weight.detach().flatten() for one in convolutions])
    assert abs(float(weights.std()) - 0.02) < 1e-3 and abs(float(weights.mean())) < 1e-3
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm2d)]
    scales = torch.cat([norm.weight.detach() for norm in norms])
    assert abs(float(scales.mean()) - 1) < 0.01 and 0.01 < float(scales.std()) < 0.03


def test_the_residual_generator_starts_as_the_identity_and_learns_a_correction() -> None:
    network = ResidualGenerator(width=4, depth=3)
    images = torch.randn(2, 3, 9, 7)
    assert torch.equal(network(images), images)
    network(images).sum().backward()
    last = network.correction[-1].weight
    assert isinstance(last, Tensor) and last.grad is not None and last.grad.abs().sum() > 0


@pytest.mark.parametrize(("height", "width"), [(50, 70), (3, 5), (1, 33)])
def test_images_of_any_size_are_padded_by_reflection_and_cropped_back(
    height: int, width: int
) -> None:
    torch.manual_seed(0)
    network = randomized(UNetGenerator(width=2, depth=4))
    images = torch.randn(1, 3, height, width, dtype=torch.float64)
    border = ((0, 0), (0, 0), (0, -height % 16), (0, -width % 16))
    padded = torch.from_numpy(np.pad(images.numpy(), border, mode="reflect"))
    expected = network.generate(padded)[..., :height, :width]
    torch.testing.assert_close(network(images), expected)


def test_the_depth_is_the_deepest_that_the_size_allows() -> None:
    depths = {size: UNetSettings().fitted(size).depth for size in (256, 512, 224, 64, 24)}
    assert depths == {256: 8, 512: 8, 224: 5, 64: 6, 24: 3}
    assert ResidualSettings().fitted(33) == ResidualSettings()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: UNetSettings().fitted(33), "side is even, but views.size is 33"),
        (lambda: UNetSettings(depth=4).check(40), "multiple of 16, but views.size is 40"),
        (lambda: UNetSettings().build(), "'depth' must be given"),
        (lambda: DiscriminatorSettings().check(20), "layers 3 needs views of at least 24 pixels"),
        (lambda: build(ResidualSettings, {"depth": 1}, "generator"), "'depth' must be an integer"),
    ],
)
def test_what_does_not_fit_is_one_sentence(action, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)
