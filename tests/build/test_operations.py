"""Operations: each does what its imaging function does, to images of any size."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from tests.build.sets import picture
from unshortcut.build.operation import OPERATIONS, Operation, make_operation
from unshortcut.discovery import find_all
from unshortcut.errors import UsageError
from unshortcut.parts import part_to_mapping
from unshortcut.randomness import generator

NAMES = ("anisotropic", "bilateral", "cartoon", "gaussian", "robust", "stylized", "texture")


def image(height: int = 40, width: int = 48) -> np.ndarray:
    return np.array(picture(3, height, width))


def test_all_of_them_are_found() -> None:
    # The filter of a trained generator needs weights; tests/translation has its tests.
    assert sorted(find_all(OPERATIONS.package, Operation)) == sorted([*NAMES, "pix2pix"])


@pytest.mark.parametrize("name", NAMES)
def test_each_changes_an_image_by_its_key_alone(name: str) -> None:
    given = image()
    operation = make_operation(name, {"size": 32} if name == "texture" else {})
    first = operation.apply(given, generator(1, "a"))
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    assert np.array_equal(given, image()), "the input was changed"
    assert not np.array_equal(first, given)
    again = make_operation(**part_to_mapping_as_call(operation)).apply(given, generator(1, "a"))
    assert np.array_equal(first, again)


def part_to_mapping_as_call(operation: Operation) -> dict[str, object]:
    mapping = part_to_mapping(operation)
    return {"name": mapping.pop("name"), "settings": mapping}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 30), (30, 1), (2, 3), (9, 17)])
def test_each_takes_images_of_any_size(name: str, height: int, width: int) -> None:
    operation = make_operation(name, {"size": 16} if name == "texture" else {})
    made = operation.apply(image(height, width), generator(0))
    assert made.shape == ((16, 16, 3) if name == "texture" else (height, width, 3))


@pytest.mark.parametrize("name", ["gaussian", "stylized", "texture"])
def test_the_random_ones_depend_on_the_key(name: str) -> None:
    operation = make_operation(name, {})
    first, second = (operation.apply(image(), generator(0, key)) for key in ("a", "b"))
    assert not np.array_equal(first, second)


def test_gaussian_is_pillows_at_the_drawn_deviation() -> None:
    blurred = make_operation("gaussian", {"sigma": [2.0, 2.0]}).apply(image(), generator(0))
    theirs = np.asarray(Image.fromarray(image()).filter(ImageFilter.GaussianBlur(2.0)))
    apart = np.abs(blurred.astype(int) - theirs.astype(int))
    assert apart[8:-8, 8:-8].max() <= 1  # Pillow treats borders otherwise


def test_the_default_gaussian_has_the_papers_variance() -> None:
    low, high = make_operation("gaussian", {}).sigma  # type: ignore[attr-defined]
    assert low**2 == pytest.approx(10, rel=0.01) and high**2 == pytest.approx(20, rel=0.01)


def test_diffusion_smooths_and_keeps_an_edge() -> None:
    rng = np.random.default_rng(0)
    levels = np.where(np.arange(40) < 20, 60, 200)[None, :, None] + rng.integers(-8, 9, (40, 40, 3))
    for name in ("anisotropic", "robust", "bilateral"):
        made = make_operation(name, {}).apply(levels.astype(np.uint8), generator(0)).astype(float)
        assert made[:, :18].std() < 0.6 * levels[:, :18].std()
        assert made[:, 20].mean() - made[:, 19].mean() > 120, name
    blurred = make_operation("gaussian", {}).apply(levels.astype(np.uint8), generator(0))
    assert blurred[:, 20].mean() - blurred[:, 19].mean() < 30


def test_robust_is_another_conductance_than_the_default() -> None:
    robust = make_operation("robust", {}).apply(image(), generator(0))
    tukey = make_operation("anisotropic", {"conductance": "tukey"}).apply(image(), generator(0))
    plain = make_operation("anisotropic", {}).apply(image(), generator(0))
    assert np.array_equal(robust, tukey) and not np.array_equal(robust, plain)


def test_a_range_of_iterations_gives_each_image_one_of_them_by_its_key() -> None:
    operation = make_operation("anisotropic", {"iterations": [10, 19]})
    fixed = {
        count: make_operation("anisotropic", {"iterations": count}).apply(image(), generator(0))
        for count in range(9, 21)
    }
    drawn = [operation.apply(image(), generator(0, str(key))) for key in range(60)]
    found = {count for made in drawn for count, one in fixed.items() if np.array_equal(made, one)}
    assert found == set(range(10, 20)), "ten variations, both ends included"
    again = operation.apply(image(), generator(0, "7"))
    assert np.array_equal(again, drawn[7])


def test_a_texture_is_made_of_the_images_pixels() -> None:
    given = image()
    made = make_operation("texture", {"size": 50, "patch": 20}).apply(given, generator(0))
    known = {tuple(pixel) for pixel in given.reshape(-1, 3).tolist()}
    assert made.shape == (50, 50, 3)
    assert {tuple(pixel) for pixel in made.reshape(-1, 3).tolist()} <= known


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("anisotropc", {}, "did you mean 'anisotropic'"),
        ("anisotropic", {"gamma": 0.5}, "gamma must be above 0 and at most 1/4"),
        ("anisotropic", {"conductance": "tuky"}, "conductance"),
        ("anisotropic", {"kapa": 3}, "did you mean 'kappa'"),
        ("robust", {"iterations": -1}, "'iterations' must be one or two integers of at least 0"),
        ("anisotropic", {"iterations": [20, 10]}, "the lower first"),
        ("robust", {"iterations": "many"}, "iterations"),
        ("gaussian", {"sigma": [3, 2]}, "the lower first"),
        ("bilateral", {"diameter": 0}, "bilateral': 'diameter' must be an integer from 1 to 99"),
        ("cartoon", {"block": 4}, "'block' must be odd"),
        ("stylized", {"strength": 2}, "'strength' must be a number from 0 to 1"),
        ("stylized", {"styles": "nowhere/at/all"}, "no such folder"),
        ("stylized", {"adain": "nowhere.pt"}, "nowhere.pt"),
        ("texture", {"size": 0}, "size"),
    ],
)
def test_wrong_settings_are_told(name: str, settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_operation(name, settings)
