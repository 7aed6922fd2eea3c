"""Blur against Pillow's filter and against the definition of a Gaussian's variance."""

import numpy as np
import PIL.Image
import PIL.ImageFilter
import pytest

from tests.imaging.pictures import KINDS, difference, pictures
from unshortcut.imaging.blur import box_kernel, gaussian_blur


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 5.0])
def test_blur_is_pillows(kind: str, sigma: float) -> None:
    for image in pictures(kind, 6):
        reference = PIL.Image.fromarray(image).filter(PIL.ImageFilter.GaussianBlur(sigma))
        assert difference(gaussian_blur(image, sigma), reference) < 1


@pytest.mark.parametrize("sigma", [0.1, 0.7, 1.0, 2.0, 9.3])
def test_the_kernel_has_the_variance_of_its_gaussian(sigma: float) -> None:
    kernel = box_kernel(sigma)
    offsets = np.arange(kernel.size) - kernel.size // 2
    assert kernel.sum() == pytest.approx(1)
    assert (kernel * offsets**2).sum() == pytest.approx(sigma**2, rel=1e-4)
