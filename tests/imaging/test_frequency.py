"""Low-pass and high-pass: against the plain transform in float64, and where the answer is known."""

import numpy as np
import pytest

from unshortcut.imaging.frequency import SHAPES, Shape, high_pass, low_pass


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def by_definition(image: np.ndarray, r: float, shape: Shape, *, high: bool) -> np.ndarray:
    """Shifted spectrum, a mask coefficient by coefficient, the real part; float64, not clipped."""
    height, width = image.shape[:2]
    held = np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            u, v = i - height // 2, j - width // 2
            if shape == "square":
                held[i, j] = -r / 2 <= u < r / 2 and -r / 2 <= v < r / 2
            else:
                held[i, j] = (u * u + v * v) ** 0.5 < r / 2
    out = np.empty(image.shape)
    for channel in range(3):
        spectrum = np.fft.fftshift(np.fft.fft2(image[..., channel].astype(np.float64)))
        spectrum = spectrum * (1 - held if high else held)
        out[..., channel] = np.fft.ifft2(np.fft.ifftshift(spectrum)).real
    return out + (128 if high else 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("height", "width"), [(32, 32), (33, 33), (20, 31)])
def test_is_the_masked_transform_of_each_channel(height: int, width: int, shape: Shape) -> None:
    image = picture(height, width)
    for r in (1, 2, 5, 8, 19, 20, 32):
        for function, high in ((low_pass, False), (high_pass, True)):
            exact = by_definition(image, r, shape, high=high)
            ours = function(image, r, shape)
            assert ours.dtype == np.uint8 and ours.shape == image.shape
            # Half a gray level is the rounding; the rest is float32.
            assert np.abs(ours - np.clip(exact, 0, 255)).max() < 0.501


@pytest.mark.parametrize("shape", SHAPES)
def test_a_wave_passes_only_where_its_frequency_is_within_the_mask(shape: Shape) -> None:
    x = np.arange(64)
    wave = np.rint(128 + 100 * np.cos(2 * np.pi * 6 * x / 64)).astype(np.uint8)
    image = np.broadcast_to(wave[None, :, None], (64, 64, 3)).copy()
    flat = np.full_like(image, 128)
    for r, kept, lost in ((14, low_pass, high_pass), (10, high_pass, low_pass)):
        assert np.abs(kept(image, r, shape).astype(int) - image).max() <= 2
        assert np.abs(lost(image, r, shape).astype(int) - flat).max() <= 2


def test_the_smallest_mask_keeps_the_mean_and_the_largest_square_keeps_all() -> None:
    image = picture(24, 24)
    assert (low_pass(image, 1) == np.rint(image.mean((0, 1)))).all()
    assert (low_pass(image, 24) == image).all()
    assert (high_pass(image, 24) == 128).all()


def test_a_high_pass_tells_nothing_of_the_mean_color() -> None:
    image = picture(24, 24) // 4 + 20
    brighter = image + np.array([100, 0, 50], np.uint8)
    assert (high_pass(image, 5) == high_pass(brighter, 5)).all()


def test_the_round_mask_lies_within_the_square_one() -> None:
    x = np.arange(64)
    angle = 2 * np.pi * 6 * (x[:, None] + x[None, :]) / 64  # (6, 6): 8.5 cycles from the mean
    wave = np.rint(128 + 100 * np.cos(angle)).astype(np.uint8)
    image = np.stack([wave] * 3, axis=2)
    assert np.ptp(low_pass(image, 14, "square")) > 190
    assert np.ptp(low_pass(image, 14, "round")) < 5


def test_a_mask_without_the_mean_or_of_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        low_pass(picture(8, 8), 0.5)
    with pytest.raises(ValueError, match="square, round"):
        high_pass(picture(8, 8), 3, "oval")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"uint8 \(h, w, 3\)"):
        low_pass(np.zeros((8, 8, 3), np.float32), 3)  # type: ignore[arg-type]
