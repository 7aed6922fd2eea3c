"""Filters as augmentations: drawn as they say, applied as the imaging functions do."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.imaging.pictures import pictures
from unshortcut.augmentations.augmentation import AUGMENTATIONS, Augmentation, make_augmentation
from unshortcut.discovery import find
from unshortcut.errors import UsageError
from unshortcut.imaging.diffusion import anisotropic_diffusion
from unshortcut.imaging.filters import bilateral, cartoon
from unshortcut.parts import part_to_mapping
from unshortcut.randomness import generator

DRAWS = 1500
NAMES = ("anisotropic_diffusion", "bilateral_filter", "cartoon")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_p_is_how_often_an_image_is_changed(name: str, p: float) -> None:
    augmentation = make_augmentation(name, {"p": p})
    rng = generator(0, name)
    changed = sum(augmentation.sample(rng, 10, 10) is not None for _ in range(DRAWS))
    assert stats.binomtest(changed, DRAWS, p).pvalue > 1e-3 if 0 < p < 1 else changed == p * DRAWS
    image = pictures("drawn")[0]
    np.testing.assert_array_equal(augmentation.apply(image, None), image)


def test_iterations_are_drawn_uniformly_with_both_ends() -> None:
    diffusion = make_augmentation("anisotropic_diffusion", {"p": 1.0})
    rng = generator(0, "iterations")
    drawn = [diffusion.sample(rng, 10, 10) for _ in range(DRAWS)]
    counts = [drawn.count(number) for number in range(10, 21)]
    assert sum(counts) == DRAWS
    assert stats.chisquare(counts).pvalue > 1e-3


def test_one_number_of_iterations_is_always_that_one() -> None:
    diffusion = make_augmentation("anisotropic_diffusion", {"p": 1.0, "iterations": 7})
    assert {diffusion.sample(generator(seed), 5, 5) for seed in range(30)} == {7}


@pytest.mark.parametrize("name", NAMES)
def test_a_draw_takes_as_many_random_numbers_whatever_comes_of_it(name: str) -> None:
    always, never = generator(1), generator(1)
    make_augmentation(name, {"p": 1.0}).sample(always, 9, 9)
    make_augmentation(name, {"p": 0.0}).sample(never, 9, 9)
    assert always.random() == never.random()


@pytest.mark.parametrize(
    ("name", "settings", "function"),
    [
        ("anisotropic_diffusion", {"iterations": 4}, anisotropic_diffusion),
        ("anisotropic_diffusion", {"iterations": 4, "kappa": 60.0}, anisotropic_diffusion),
        (
            "anisotropic_diffusion",
            {"iterations": 4, "conductance": "tukey", "joint": True, "gamma": 0.15},
            anisotropic_diffusion,
        ),
        ("bilateral_filter", {}, bilateral),
        (
            "bilateral_filter",
            {"diameter": 5, "sigma_color": 60.0, "sigma_space": 2.0, "repeats": 1},
            bilateral,
        ),
        ("cartoon", {}, cartoon),
        ("cartoon", {"repeats": 1, "median": 3, "block": 15, "offset": 2.0}, cartoon),
    ],
)
def test_the_image_is_the_functions(name: str, settings: dict[str, Any], function: Any) -> None:
    augmentation = make_augmentation(name, {**settings, "p": 1.0})
    image = pictures("drawn")[1]
    before = image.copy()
    params = augmentation.sample(generator(0), *image.shape[:2])
    out = augmentation.apply(image, params)
    np.testing.assert_array_equal(out, function(image, **settings))
    assert not np.array_equal(out, image)
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("name", NAMES)
def test_views_can_share_a_draw(name: str) -> None:
    """Leave-one-out views: parameters drawn once fit another image of another size."""
    augmentation = make_augmentation(name, {"p": 1.0})
    first, second = pictures("drawn")[:2]
    params = augmentation.sample(generator(3), *first.shape[:2])
    assert params == augmentation.sample(generator(3), *first.shape[:2])
    assert augmentation.output_size(params, 30, 40) == (30, 40)
    for image in (first, second):
        out = augmentation.apply(image, params)
        np.testing.assert_array_equal(out, augmentation.apply(image, params))
        assert out.shape == image.shape


@pytest.mark.parametrize("name", NAMES)
def test_an_augmentation_survives_its_mapping(name: str) -> None:
    augmentation = make_augmentation(name, {"p": 0.25})
    assert AUGMENTATIONS.build(part_to_mapping(augmentation)) == augmentation


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (
            NAMES[0],
            {"iterations": -1},
            "'iterations' must be one or two integers of at least 0",
        ),
        (NAMES[0], {"iterations": [20, 10]}, "the lower first, got \\[20, 10\\]"),
        (NAMES[0], {"iterations": (1.5, 3)}, "anisotropic_diffusion: 'iterations'"),
        (NAMES[0], {"kappa": "wide"}, "'kappa' must be a number from 1e-06 to 1e\\+06, got 'wide'"),
        (NAMES[0], {"gamma": 0.3}, "'gamma' must be a number above 0 and at most 0.25, got 0.3"),
        (NAMES[0], {"gamma": 0.25, "joint": True}, "diffusion: gamma must be .* at most 1/6"),
        (
            NAMES[0],
            {"conductance": "none"},
            "'conductance' must be 'exponential', 'rational' or",
        ),
        (NAMES[0], {"p": 2}, "anisotropic_diffusion: 'p' must be a number from 0 to 1"),
        (NAMES[1], {"diameter": 0}, "filter: 'diameter' must be an integer from 1 to 99, got 0"),
        (NAMES[1], {"sigma_color": 0}, "bilateral_filter: 'sigma_color'"),
        (NAMES[1], {"repeats": 0}, "bilateral_filter: 'repeats'"),
        (NAMES[2], {"median": 4}, "cartoon: 'median' must be odd, got 4"),
        (NAMES[2], {"block": 1}, "cartoon: 'block' must be an integer from 3 to 99"),
        (NAMES[2], {"offset": 300}, "cartoon: 'offset'"),
        (NAMES[2], {"sigma_space": "x"}, "cartoon: 'sigma_space'"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(
    name: str, settings: dict[str, Any], sentence: str
) -> None:
    kind = find("unshortcut.augmentations", Augmentation, name, "augmentation")
    with pytest.raises(UsageError, match=sentence):
        kind(**settings)
