"""The augmentation `texture_randomization`: styles by number, shared parameters, clear errors."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from scipy import stats

from tests.imaging.pictures import pictures
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.errors import UsageError
from unshortcut.imaging.adain import _shapes, load_adain
from unshortcut.imaging.patterns import random_pattern
from unshortcut.imaging.transfer import fit_style, transfer_texture
from unshortcut.randomness import generator


@pytest.fixture
def styles(tmp_path: Path) -> Path:
    """Five style images in different sizes, and one that is none."""
    folder = tmp_path / "styles"
    folder.mkdir()
    for number in range(5):
        style = random_pattern(generator(number), 50 + 60 * number, 90)
        cv2.imwrite(str(folder / f"{number}.png"), style[..., ::-1])
    (folder / "broken.png").write_bytes(b"no image")
    return folder


def image() -> np.ndarray:
    return np.ascontiguousarray(pictures("drawn")[0][:80, :100])


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_p_is_how_often_the_texture_changes(p: float) -> None:
    change = make_augmentation("texture_randomization", {"p": p})
    rng = generator(0)
    sampled = [change.sample(rng, 9, 9) for _ in range(600)]
    changed = sum(number is not None for number in sampled)
    if 0 < p < 1:
        assert stats.binomtest(changed, 600, p).pvalue > 1e-3
    else:
        assert changed == 600 * p
    assert len(set(sampled) - {None}) == changed
    given = image()
    np.testing.assert_array_equal(change.apply(given, None), given)
    assert not np.array_equal(change.apply(given, 7), given)


def test_a_draw_is_a_plain_number_whatever_the_image() -> None:
    change = make_augmentation("texture_randomization", {"p": 1.0})
    first, second = change.sample(generator(3), 9, 9), change.sample(generator(3), 200, 100)
    assert type(first) is int
    assert first == second
    np.testing.assert_array_equal(change.apply(image(), first), change.apply(image(), second))
    other = change.sample(generator(4), 9, 9)
    assert not np.array_equal(change.apply(image(), first), change.apply(image(), other))


def test_without_styles_the_texture_is_that_of_a_pattern() -> None:
    change: Any = make_augmentation("texture_randomization", {"strength": 0.6})
    style = random_pattern(generator(12, "style"), 80, 100)
    np.testing.assert_array_equal(change.style(12, 80, 100), style)
    expected = transfer_texture(image(), style, strength=0.6)
    np.testing.assert_array_equal(change.apply(image(), 12), expected)


def test_styles_come_from_the_folder_each_as_often_and_broken_ones_are_passed_over(
    styles: Path,
) -> None:
    change: Any = make_augmentation("texture_randomization", {"styles": str(styles)})
    files = [cv2.imread(str(styles / f"{k}.png"))[..., ::-1] for k in range(5)]
    fitted = [fit_style(np.ascontiguousarray(file), 32, 48).tobytes() for file in files]
    used = [fitted.index(change.style(number, 32, 48).tobytes()) for number in range(300)]
    assert stats.chisquare(np.bincount(used, minlength=5)).pvalue > 1e-3
    number = 5
    expected = transfer_texture(image(), change.style(number, 80, 100))
    np.testing.assert_array_equal(change.apply(image(), number), expected)


def test_a_file_of_adain_weights_stylizes_instead(tmp_path: Path) -> None:
    torch.manual_seed(0)
    weights = {name: torch.randn(shape) * 0.05 for name, shape in _shapes().items()}
    weights["decoder.28.bias"] += 0.5
    path = tmp_path / "adain.safetensors"
    save_file(weights, path)
    change: Any = make_augmentation(
        "texture_randomization", {"adain": str(path), "strength": 0.7, "p": 1.0}
    )
    content = image()[:24, :32]
    expected = load_adain(path).stylize(content, change.style(9, 24, 32), alpha=0.7)
    np.testing.assert_array_equal(change.apply(content, 9), expected)


def test_what_cannot_be_is_said_when_the_augmentation_is_made(tmp_path: Path) -> None:
    def refused(settings: dict[str, Any], sentence: str) -> None:
        with pytest.raises(UsageError, match=sentence):
            make_augmentation("texture_randomization", settings)

    missing = tmp_path / "paintings"
    refused({"styles": str(missing)}, f"texture_randomization: no such folder or file: {missing}")
    missing.mkdir()
    refused({"styles": str(missing)}, "texture_randomization: no images in the folder")
    refused({"adain": str(tmp_path / "w.pth")}, "texture_randomization: the AdaIN weights file")
    refused({"strength": 1.5}, "texture_randomization': 'strength' must be a number from 0 to 1")
    refused({"p": -1}, "texture_randomization': 'p'")


def test_a_folder_of_unreadable_styles_is_named(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(b"no image")
    change = make_augmentation("texture_randomization", {"styles": str(tmp_path)})
    with pytest.raises(UsageError, match=r"texture_randomization\.styles: 10 images in a row"):
        change.apply(image(), 1)
