"""Blur against Pillow's filter and against the definition of a Gaussian's variance."""

import numpy as np
import PIL.Image
import PIL.ImageFilter
import pytest
import torch
from torch.nn import functional as F

from tests.imaging.pictures import KINDS, difference, pictures
from unshortcut.imaging.blur import box_kernel, gaussian_blur


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 5.0])
def test_blur_is_pillows(kind: str, sigma: float) -> None:
    for image in pictures(kind, 6):
        reference = PIL.Image.fromarray(image).filter(PIL.ImageFilter.GaussianBlur(sigma))
        assert difference(gaussian_blur(image, sigma), reference) < 1


@pytest.mark.parametrize("sigma", [0.1, 0.5, 1.0, 2.0])
def test_a_blur_of_three_pixels_is_a_convolution_with_a_cut_off_gaussian(sigma: float) -> None:
    weights = torch.exp(-(torch.tensor([-1.0, 0.0, 1.0]) ** 2) / (2 * sigma**2))
    kernel = torch.outer(weights, weights) / weights.sum() ** 2
    for image in pictures("drawn", 3):
        channels = torch.from_numpy(image).permute(2, 0, 1)[:, None].float()  # (3, 1, h, w)
        padded = F.pad(channels, (1, 1, 1, 1), mode="reflect")
        expected = F.conv2d(padded, kernel[None, None])[:, 0].permute(1, 2, 0).numpy()
        assert np.abs(gaussian_blur(image, sigma, kernel_size=3) - expected).max() < 1.01


@pytest.mark.parametrize("sigma", [0.1, 0.7, 1.0, 2.0, 9.3])
def test_the_kernel_has_the_variance_of_its_gaussian(sigma: float) -> None:
    kernel = box_kernel(sigma)
    offsets = np.arange(kernel.size) - kernel.size // 2
    assert kernel.sum() == pytest.approx(1)
    assert (kernel * offsets**2).sum() == pytest.approx(sigma**2, rel=1e-4)
