"""Anisotropic diffusion: MedPy's formula, its invariants, and errors."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imaging.diffusion_reference import adversarial, reference
from tests.imaging.pictures import KINDS, pictures
from unshortcut.imaging.diffusion import CONDUCTANCES, anisotropic_diffusion

TOLERANCE = 0.1
"""Of 255, what is promised; what is reached is about 0.02."""

few = settings(max_examples=25, deadline=None)
shapes = st.one_of(
    st.tuples(st.integers(1, 20), st.integers(1, 20)),
    st.tuples(st.integers(1, 20), st.integers(1, 20), st.just(3)),
)


@st.composite
def images(draw: Any, shape: Any = shapes) -> np.ndarray:
    """uint8 images of few levels around an edge, of extremes, or of anything."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low, high = draw(st.sampled_from([(0, 256), (100, 140), (0, 2), (254, 256)]))
    image = rng.integers(low, high, draw(shape), dtype=np.uint8)
    return image * np.uint8(255) if high == 2 else image


options = st.fixed_dictionaries(
    {
        "iterations": st.integers(0, 12),
        "kappa": st.sampled_from([0.5, 5.0, 20.0, 300.0]),
        "gamma": st.sampled_from([0.01, 0.1, 1 / 6]),
        "conductance": st.sampled_from(CONDUCTANCES),
        "joint": st.booleans(),
    }
)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("conductance", CONDUCTANCES)
@pytest.mark.parametrize("name", adversarial())
def test_adversarial_images_follow_the_formula(name: str, conductance: Any, joint: bool) -> None:
    image = adversarial()[name]
    expected = reference(image, conductance=conductance, joint=joint)
    smooth = anisotropic_diffusion(image.astype(np.float32), conductance=conductance, joint=joint)
    assert np.abs(smooth - expected).max() < TOLERANCE
    rounded = anisotropic_diffusion(image, conductance=conductance, joint=joint)
    assert np.abs(rounded - np.rint(expected)).max() <= 1


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("conductance", CONDUCTANCES)
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_follow_the_formula(kind: str, conductance: Any, joint: bool) -> None:
    for image in pictures(kind, 3):
        image = image[:120, :160]
        expected = reference(image, conductance=conductance, joint=joint)
        smooth = anisotropic_diffusion(
            image.astype(np.float32), conductance=conductance, joint=joint
        )
        assert np.abs(smooth - expected).max() < TOLERANCE
        assert np.abs(smooth - image).mean() > 0.5


@pytest.mark.parametrize("kappa", [1.0, 7.0, 100.0])
@pytest.mark.parametrize("gamma", [0.02, 0.25])
@pytest.mark.parametrize("conductance", CONDUCTANCES)
def test_other_settings_follow_the_formula(kappa: float, gamma: float, conductance: Any) -> None:
    image = pictures("drawn", 1)[0][:50, :60, 0]
    expected = reference(image, 5, kappa, gamma, conductance)
    smooth = anisotropic_diffusion(
        image.astype(np.float32), iterations=5, kappa=kappa, gamma=gamma, conductance=conductance
    )
    assert np.abs(smooth - expected).max() < TOLERANCE / 5


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("option", [1, 2, 3])
def test_it_is_medpys(option: int, joint: bool) -> None:
    smoothing = pytest.importorskip("medpy.filter.smoothing")
    conductance = CONDUCTANCES[option - 1]
    for image in [*adversarial().values(), *pictures("drawn", 1)]:
        parts = [image] if joint else list(np.moveaxis(image, -1, 0))
        diffused = [
            smoothing.anisotropic_diffusion(part, niter=20, kappa=20, gamma=0.1, option=option)
            for part in parts
        ]
        expected = diffused[0] if joint else np.stack(diffused, -1)
        smooth = anisotropic_diffusion(
            image.astype(np.float32), conductance=conductance, joint=joint
        )
        assert np.abs(smooth - expected).max() < TOLERANCE
        rounded = anisotropic_diffusion(image, conductance=conductance, joint=joint)
        assert np.abs(rounded - np.rint(expected)).max() <= 1


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("option", [1, 2, 3])
def test_it_gives_what_medpy_gave(option: int, joint: bool) -> None:
    """MedPy 0.5.2 with the papers' settings, on edges, ramps and a checkerboard with noise."""
    with np.load(Path(__file__).parent / "medpy_0.5.2.npz") as kept:
        image = kept["image"]
        expected = kept[f"option{option}_{'joint' if joint else 'channels'}"]
    chosen: dict[str, Any] = {"conductance": CONDUCTANCES[option - 1], "joint": joint}
    smooth = anisotropic_diffusion(image.astype(np.float32), **chosen)
    assert np.abs(smooth - expected).max() < TOLERANCE
    rounded = anisotropic_diffusion(image, **chosen)
    assert np.abs(rounded - np.rint(expected)).max() <= 1


@few
@given(images(), options)
def test_values_stay_in_their_range_and_keep_their_mean(
    image: np.ndarray, chosen: dict[str, Any]
) -> None:
    before = image.copy()
    smooth = anisotropic_diffusion(image.astype(np.float32), **chosen)
    rounded = anisotropic_diffusion(image, **chosen)
    assert smooth.dtype == np.float32
    assert rounded.dtype == np.uint8
    assert smooth.shape == rounded.shape == image.shape
    assert image.min() - 1e-3 <= smooth.min() <= smooth.max() <= image.max() + 1e-3
    assert smooth.mean(dtype=float) == pytest.approx(image.mean(), abs=1e-3)
    assert np.abs(rounded - smooth).max() <= 0.5 + 1e-3
    np.testing.assert_array_equal(image, before)


@few
@given(images(), options)
def test_rotated_and_flipped_images_give_rotated_and_flipped_results(
    image: np.ndarray, chosen: dict[str, Any]
) -> None:
    image = image.astype(np.float32)
    smooth = anisotropic_diffusion(image, **chosen)
    for move in (np.flipud, np.fliplr, lambda array: np.swapaxes(array, 0, 1)):
        np.testing.assert_allclose(
            anisotropic_diffusion(move(image), **chosen), move(smooth), atol=2e-3
        )


@few
@given(shapes, st.floats(0, 255, width=32), options)
def test_a_constant_image_keeps_every_bit(
    shape: tuple[int, ...], level: float, chosen: dict[str, Any]
) -> None:
    image = np.full(shape, level, np.float32)
    np.testing.assert_array_equal(anisotropic_diffusion(image, **chosen), image)
    levels = image.astype(np.uint8)
    np.testing.assert_array_equal(anisotropic_diffusion(levels, **chosen), levels)


@few
@given(images(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))), options)
def test_channels_are_apart_unless_joint(image: np.ndarray, chosen: dict[str, Any]) -> None:
    chosen["joint"] = False
    together = anisotropic_diffusion(image, **chosen)
    for channel in range(image.shape[2]):
        alone = anisotropic_diffusion(image[:, :, channel], **chosen)
        np.testing.assert_array_equal(together[:, :, channel], alone)


def test_an_edge_stays_and_a_ripple_goes() -> None:
    columns = np.arange(40)
    image = np.where(columns < 20, 60, 190) + np.where(columns % 2, 4, -4)
    smooth = anisotropic_diffusion(np.tile(image, (30, 1)).astype(np.uint8))
    assert smooth[:, :19].max() <= 62
    assert smooth[:, 21:].min() >= 188


def test_no_iterations_give_a_copy() -> None:
    image = np.random.default_rng(0).uniform(0, 255, (5, 6, 3)).astype(np.float32)
    out = anisotropic_diffusion(image, iterations=0)
    np.testing.assert_array_equal(out, image)
    assert not np.shares_memory(out, image)


def test_freshly_compiled_and_cached_code_give_the_same_bytes(tmp_path: Any) -> None:
    """A data set that is half made by one process is finished by another."""
    program = (
        "import hashlib, numpy as np\n"
        "from unshortcut.imaging.diffusion import anisotropic_diffusion\n"
        "image = np.random.default_rng(0).normal(128, 15, (150, 150, 3)).astype(np.float32)\n"
        "print(hashlib.sha256(anisotropic_diffusion(image).tobytes()).hexdigest())\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"iterations": -1}, "iterations must be at least 0, not -1"),
        ({"kappa": 0.0}, "kappa must be from 1e-06 to 1e\\+06, not 0.0"),
        ({"kappa": float("nan")}, "kappa"),
        ({"gamma": 0.3}, "gamma must be above 0 and at most 1/4"),
        ({"gamma": 0.0}, "gamma"),
        ({"gamma": 0.2, "joint": True}, "at most 1/6, not 0.2: joint diffusion is unstable"),
        ({"conductance": "linear"}, "one of exponential, rational, tukey, not 'linear'"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        anisotropic_diffusion(np.zeros((3, 3), np.uint8), **wrong)


@pytest.mark.parametrize(
    "image", [np.zeros((3, 3), np.float64), np.zeros(3, np.uint8), np.zeros((1, 2, 3, 4), np.uint8)]
)
def test_other_arrays_are_refused_in_a_sentence(image: Any) -> None:
    with pytest.raises(ValueError, match="the image must be uint8 or float32 of shape"):
        anisotropic_diffusion(image)
