"""RGB to Lab against OpenCV, and against the formula in float64."""

import cv2
import numpy as np
import torch

from unshortcut.imaging.lab import HIGH, LOW, WHITE, rgb_to_lab, scaled_lab


def cube(steps: int, dtype: torch.dtype) -> torch.Tensor:
    """Colors of a grid in the RGB cube, (1, 3, steps², steps)."""
    axis = torch.linspace(0, 1, steps, dtype=dtype)
    return torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij")).reshape(1, 3, -1, steps)


def test_it_is_opencvs() -> None:
    images = cube(17, torch.float32)
    rgb = np.ascontiguousarray(images[0].permute(1, 2, 0).numpy())
    expected = cv2.cvtColor(rgb, cv2.COLOR_RGB2Lab)
    ours = rgb_to_lab(images)[0].permute(1, 2, 0).numpy()
    # OpenCV interpolates in a table.
    assert np.abs(ours - expected).max() < 0.5
    assert np.abs(ours - expected).mean() < 0.05


def test_it_is_the_formula() -> None:
    def curve(value: float) -> float:
        return value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116

    for rgb in ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.2, 0.7, 0.01), (0.03, 0.0, 0.05)):
        r, g, b = (((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in rgb)
        x, y, z = (
            curve((u * r + v * g + w * b) / white)
            for (u, v, w), white in zip(
                (
                    (0.412453, 0.357580, 0.180423),
                    (0.212671, 0.715160, 0.072169),
                    (0.019334, 0.119193, 0.950227),
                ),
                WHITE,
                strict=True,
            )
        )
        expected = torch.tensor([116 * y - 16, 500 * (x - y), 200 * (y - z)], dtype=torch.float64)
        image = torch.tensor(rgb, dtype=torch.float64).view(1, 3, 1, 1)
        torch.testing.assert_close(rgb_to_lab(image).flatten(), expected, rtol=0, atol=1e-9)


def test_every_color_is_scaled_into_minus_1_to_1_and_the_ends_are_met() -> None:
    scaled = scaled_lab(cube(33, torch.float64))[0].flatten(1)
    torch.testing.assert_close(scaled.amin(1), torch.full((3,), -1.0).double(), rtol=0, atol=1e-3)
    torch.testing.assert_close(scaled.amax(1), torch.full((3,), 1.0).double(), rtol=0, atol=1e-3)
    assert LOW[0] == 0 and HIGH[0] == 100


def test_black_and_gray_have_finite_gradients() -> None:
    images = torch.tensor([0.0, 0.5]).view(1, 1, 1, 2).repeat(1, 3, 1, 1).requires_grad_()
    rgb_to_lab(images).sum().backward()
    assert images.grad is not None and torch.isfinite(images.grad).all()


def test_mixed_precision_takes_nothing_from_it() -> None:
    images = cube(9, torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = rgb_to_lab(images)
    torch.testing.assert_close(mixed, rgb_to_lab(images), rtol=0, atol=0)
