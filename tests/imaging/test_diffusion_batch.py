"""Diffusion of a batch of tensors equals that of its images."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.imaging.diffusion_reference import adversarial, reference
from tests.imaging.pictures import pictures
from unshortcut.imaging.diffusion import CONDUCTANCES, anisotropic_diffusion
from unshortcut.imaging.diffusion_batch import anisotropic_diffusion_batch


def as_tensor(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image).permute(2, 0, 1)


def as_image(tensor: torch.Tensor) -> np.ndarray:
    return tensor.permute(1, 2, 0).numpy()


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("conductance", CONDUCTANCES)
def test_a_batch_is_equal_to_the_kernel(conductance: Any, joint: bool) -> None:
    for image in [*adversarial().values(), pictures("drawn", 1)[0][:90, :120]]:
        options = {"conductance": conductance, "joint": joint}
        floats = image.astype(np.float32)
        smooth = as_image(anisotropic_diffusion_batch(as_tensor(floats), **options))
        assert np.abs(smooth - anisotropic_diffusion(floats, **options)).max() < 1e-2
        rounded = as_image(anisotropic_diffusion_batch(as_tensor(image), **options))
        assert rounded.dtype == np.uint8
        assert np.abs(rounded.astype(int) - anisotropic_diffusion(image, **options)).max() <= 1


def test_double_precision_is_the_formula() -> None:
    image = pictures("drawn", 1)[0][:30, :40].astype(np.float64)
    for conductance in CONDUCTANCES:
        smooth = anisotropic_diffusion_batch(as_tensor(image), conductance=conductance, joint=True)
        expected = reference(image, conductance=conductance, joint=True)
        np.testing.assert_allclose(as_image(smooth), expected, atol=1e-9)


def test_each_image_gets_its_own_iterations() -> None:
    torch.manual_seed(0)
    images = torch.randint(0, 256, (5, 3, 12, 17), dtype=torch.uint8)
    before = images.clone()
    counts = torch.tensor([3, 0, 20, 7, 3])
    together = anisotropic_diffusion_batch(images, iterations=counts)
    for image, count, out in zip(images, counts.tolist(), together, strict=True):
        assert torch.equal(out, anisotropic_diffusion_batch(image, iterations=count))
    assert torch.equal(together[1], images[1])
    assert not torch.equal(together[2], images[2])
    assert torch.equal(images, before)


def test_shape_dtype_and_layout_are_the_inputs() -> None:
    torch.manual_seed(0)
    images = torch.rand(2, 3, 8, 9) * 255
    expected = anisotropic_diffusion_batch(images)
    channels_last = images.contiguous(memory_format=torch.channels_last).requires_grad_()
    smooth = anisotropic_diffusion_batch(channels_last)
    assert torch.equal(smooth, expected)
    assert not smooth.requires_grad
    half = images.to(torch.bfloat16)
    exact = anisotropic_diffusion_batch(half.float())
    assert torch.equal(anisotropic_diffusion_batch(half), exact.to(torch.bfloat16))
    assert anisotropic_diffusion_batch(images[:0]).shape == (0, 3, 8, 9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no accelerator")
def test_an_accelerator_gives_the_same() -> None:
    torch.manual_seed(0)
    images = torch.rand(3, 3, 40, 50) * 255
    smooth = anisotropic_diffusion_batch(images.cuda(), iterations=torch.tensor([5, 20, 1]))
    expected = anisotropic_diffusion_batch(images, iterations=torch.tensor([5, 20, 1]))
    assert (smooth.cpu() - expected).abs().max() < 1e-2


@pytest.mark.parametrize(
    ("images", "options", "sentence"),
    [
        (torch.zeros(3, 4), {}, "images must be uint8 or floating point of shape"),
        (torch.zeros(3, 4, 4, dtype=torch.int64), {}, "not torch.int64"),
        (
            torch.zeros(2, 3, 4, 4),
            {"iterations": torch.tensor([1, 2, 3])},
            "tensor of 2 integers",
        ),
        (torch.zeros(2, 3, 4, 4), {"iterations": torch.tensor([1.0, 2.0])}, "not torch.float32"),
        (torch.zeros(2, 3, 4, 4), {"iterations": torch.tensor([1, -2])}, "at least 0, not -2"),
        (torch.zeros(2, 3, 4, 4), {"gamma": 0.5}, "gamma must be above 0"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(
    images: torch.Tensor, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        anisotropic_diffusion_batch(images, **options)
