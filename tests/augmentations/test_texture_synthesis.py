"""The texture_synthesis augmentation: what is sampled, what comes out, what is refused."""

from typing import Any

import numpy as np
import pytest

from tests.imaging.pictures import pictures
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.augmentations.texture_synthesis import TextureSynthesis
from unshortcut.errors import UsageError
from unshortcut.imaging.synthesis import synthesize_texture
from unshortcut.randomness import generator
from unshortcut.recipes.schema import ViewSettings


def test_the_result_is_the_synthesis_of_the_center_and_of_the_drawn_patch() -> None:
    image = pictures("drawn")[0]
    before = image.copy()
    height, width = image.shape[:2]
    augmentation = make_augmentation("texture_synthesis", {"size": 40, "patch": 32})
    params = augmentation.sample(generator(0), height, width)
    side, top, left, seed = params
    assert side == 32
    y, x = (height - 32) // 2, (width - 32) // 2
    patches = [image[y : y + 32, x : x + 32], image[top : top + 32, left : left + 32]]
    result = augmentation.apply(image, params)
    np.testing.assert_array_equal(result, synthesize_texture(patches, 40, 40, seed=seed))
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize(("size", "shape"), [(30, (30, 30)), ([20, 31], (20, 31))])
@pytest.mark.parametrize("image_shape", [(200, 150), (60, 50), (7, 12), (1, 1)])
def test_any_image_gives_the_size_asked_for(
    size: Any, shape: tuple[int, int], image_shape: tuple[int, int]
) -> None:
    augmentation = make_augmentation("texture_synthesis", {"size": size})
    image = np.random.default_rng(0).integers(0, 256, (*image_shape, 3), np.uint8)
    params = augmentation.sample(generator(1), *image_shape)
    assert augmentation.apply(image, params).shape == (*shape, 3)
    assert augmentation.output_size(params, *image_shape) == shape


def test_p_is_how_often_and_the_rest_stays() -> None:
    augmentation = make_augmentation("texture_synthesis", {"p": 0.3})
    rng = generator(0, "p")
    samples = [augmentation.sample(rng, 120, 130) for _ in range(1000)]
    made = [one for one in samples if one is not None]
    assert 250 < len(made) < 350
    assert len(set(made)) == len(made)
    assert {one.top for one in made} == set(range(25))
    assert {one.left for one in made} == set(range(35))
    image = pictures("drawn")[0]
    assert augmentation.apply(image, None) is image
    assert augmentation.output_size(None, 120, 130) == (120, 130)


def test_a_recipe_fills_in_the_size_of_its_views() -> None:
    views = ViewSettings.model_validate(
        {"size": 64, "augmentations": [{"name": "texture_synthesis"}]}
    )
    assert views.augmentations == [TextureSynthesis(size=64)]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"patch": 0}, "texture_synthesis: 'patch' must be an integer of at least 1, got 0"),
        ({"patch": True}, "texture_synthesis: 'patch'"),
        ({"size": -3}, "texture_synthesis: 'size'"),
        ({"p": 2.0}, "texture_synthesis: 'p' must be a number from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        TextureSynthesis(**settings)
