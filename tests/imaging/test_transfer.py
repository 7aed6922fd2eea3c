"""Texture transfer keeps shapes and replaces texture and colors by those of the style."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imaging.pictures import pictures
from unshortcut.imaging.patterns import random_pattern
from unshortcut.imaging.transfer import fit_style, overlay_texture, transfer_texture
from unshortcut.randomness import generator


def disc(side: int = 128) -> np.ndarray:
    """A dark disc on a light ground, both with a fine texture of their own."""
    y, x = np.mgrid[:side, :side]
    image = np.where((y - side / 2) ** 2 + (x - side / 2) ** 2 < (side / 4) ** 2, 70.0, 180.0)
    noise = generator(0).normal(0, 8, (side, side, 3))
    return np.clip(image[..., None] + noise, 0, 255).astype(np.uint8)


def stripes(side: int = 128, period: int = 8) -> np.ndarray:
    wave = np.sin(np.arange(side) * 2 * np.pi / period)
    plane = np.broadcast_to(wave, (side, side))
    return np.stack([128 + 60 * plane, 90 + 40 * plane, 60 - 30 * plane], axis=2).astype(np.uint8)


def gray(image: np.ndarray) -> np.ndarray:
    return image @ np.array([0.299, 0.587, 0.114])


@settings(max_examples=40, deadline=None)
@given(*[st.integers(1, 40)] * 4)
def test_any_sizes(height: int, width: int, style_height: int, style_width: int) -> None:
    rng = generator(height, width)
    image = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    style = rng.integers(0, 256, (style_height, style_width, 3), dtype=np.uint8)
    before = image.copy(), style.copy()
    out = transfer_texture(image, style)
    assert out.shape == image.shape and out.dtype == np.uint8
    np.testing.assert_array_equal(image, before[0])
    np.testing.assert_array_equal(style, before[1])


@pytest.mark.parametrize("value", [0, 255])
def test_images_and_styles_of_one_color_make_no_trouble(value: int) -> None:
    flat = np.full((40, 50, 3), value, np.uint8)
    assert np.ptp(transfer_texture(flat, flat)) <= 1
    assert np.ptp(transfer_texture(disc(), flat)) > 50
    assert transfer_texture(flat, stripes()).std() > 10


def test_strength_mixes_from_the_image_to_the_full_transfer() -> None:
    image, style = disc(), stripes()
    none, half, full = (transfer_texture(image, style, strength=s) for s in (0.0, 0.5, 1.0))
    np.testing.assert_array_equal(none, image)
    mixed = (image.astype(float) + full) / 2
    assert np.abs(half - mixed).max() <= 1


def test_the_mean_color_is_the_style_s() -> None:
    style = stripes()
    out = transfer_texture(disc(), style)
    np.testing.assert_allclose(out.mean(axis=(0, 1)), style.mean(axis=(0, 1)), atol=12)


def test_the_period_of_the_style_s_stripes_is_found_in_every_area() -> None:
    """The strongest frequency along rows, inside the disc and outside of it."""
    out = gray(transfer_texture(disc(), stripes(period=8)))
    for rows, columns in ((slice(48, 80), slice(48, 80)), (slice(0, 24), slice(0, 128))):
        part = out[rows, columns] - out[rows, columns].mean()
        power = (np.abs(np.fft.rfft(part, axis=1)) ** 2).mean(axis=0)
        assert np.argmax(power[2:]) + 2 == part.shape[1] // 8


def test_the_image_s_own_texture_is_gone() -> None:
    """Against the step from ground to disc, its noise is a third of what it was at most."""
    image = disc()
    out = transfer_texture(image, np.full((8, 8, 3), 128, np.uint8))

    def noise(picture: np.ndarray) -> float:
        ground, inside = gray(picture)[4:28, 4:28], gray(picture)[52:76, 52:76]
        return float(ground.std() / abs(ground.mean() - inside.mean()))

    assert noise(out) < noise(image) / 3


def test_the_shape_stays_where_it_was() -> None:
    """With any style, the coarse part of the result follows the disc."""
    image = disc()
    coarse = cv2.GaussianBlur(gray(image), (0, 0), 6)
    for seed in range(12):
        out = overlay_texture(cv2.medianBlur(image, 5), random_pattern(generator(seed), 128, 128))
        shape = np.stack([cv2.GaussianBlur(out[..., k].astype(float), (0, 0), 6) for k in range(3)])
        best = max(abs(np.corrcoef(plane.ravel(), coarse.ravel())[0, 1]) for plane in shape)
        assert best > 0.8, seed


@pytest.mark.parametrize("kind", ["drawn", "photographs"])
def test_pictures_keep_their_layout_and_lose_their_detail(kind: str) -> None:
    found = pictures(kind, 8)
    for number, picture in enumerate(found):
        image = cv2.resize(picture, (224, 224), interpolation=cv2.INTER_AREA)
        style = random_pattern(generator(number), 224, 224)
        out = transfer_texture(image, style)
        coarse = [cv2.GaussianBlur(gray(x), (0, 0), 12).ravel() for x in (image, out)]
        fine = [(gray(x) - cv2.GaussianBlur(gray(x), (0, 0), 2)).ravel() for x in (image, out)]
        assert abs(np.corrcoef(*coarse)[0, 1]) > 0.5, number
        assert abs(np.corrcoef(*fine)[0, 1]) < 0.65, number


def test_a_style_is_reduced_to_cover_or_mirrored_to_fill() -> None:
    large = stripes(128)
    half = fit_style(large, 64, 64)
    np.testing.assert_array_equal(half, cv2.resize(large, (64, 64), interpolation=cv2.INTER_AREA))
    wide = fit_style(large, 32, 64)
    np.testing.assert_array_equal(wide, half[16:48])
    small = generator(0).integers(0, 256, (3, 5, 3), dtype=np.uint8)
    filled = fit_style(small, 7, 9)
    mirrored = np.concatenate([small, small[::-1], small])[:7]
    mirrored = np.concatenate([mirrored, mirrored[:, ::-1]], axis=1)[:, :9]
    np.testing.assert_array_equal(filled, mirrored)
