"""timm's RandAugment is timm's, and depends on its key alone."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import PIL.Image
import pytest
from timm.data.auto_augment import rand_augment_transform

from tests.imaging.pictures import pictures
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.augmentations.timm_rand_augment import TimmRandAugment
from unshortcut.errors import UsageError
from unshortcut.randomness import generator


@pytest.mark.parametrize("interpolation", ["random", "bicubic"])
def test_it_is_timms_transform_with_timms_generators_seeded(
    interpolation: Literal["random", "bicubic"],
) -> None:
    image = pictures("drawn")[0]
    config = "rand-m7-n3-mstd0.5-inc1"
    options: dict[str, object] = {"img_mean": (1, 2, 3)}
    if interpolation == "bicubic":
        options["interpolation"] = PIL.Image.Resampling.BICUBIC
    theirs = rand_augment_transform(config, options)
    ours = TimmRandAugment(config, fill=(1, 2, 3), interpolation=interpolation)
    changed = 0
    for seed in range(8):
        random.seed(seed)
        np.random.seed(seed)
        expected = np.asarray(theirs(PIL.Image.fromarray(image)))
        np.testing.assert_array_equal(ours.apply(image, seed), expected)
        changed += not np.array_equal(expected, image)
    assert changed > 4


@pytest.mark.parametrize("magnitude", ["m10", "m14-mmax15", "m20-mmax30"])
def test_no_magnitude_is_too_large_for_pillow(magnitude: str) -> None:
    image = pictures("drawn")[0][:24, :24]
    assert image.any()
    strongest = TimmRandAugment(f"rand-{magnitude}-n1-p1-inc1")
    views = [strongest.apply(image, seed) for seed in range(200)]
    assert any(not view.any() for view in views), "posterized to no bits"


def test_a_key_gives_one_view_and_global_generators_are_left_alone() -> None:
    image = pictures("drawn")[0]
    augmentation = TimmRandAugment()
    random.seed(5)
    np.random.seed(5)
    expected = random.gauss(0, 1), random.random(), np.random.rand()
    random.seed(5)
    np.random.seed(5)
    first = random.gauss(0, 1)  # it keeps a second number for the next call
    views = [augmentation.apply(image, augmentation.sample(generator(3), 9, 9)) for _ in range(2)]
    assert (first, random.random(), np.random.rand()) == expected
    np.testing.assert_array_equal(views[0], views[1])


def test_threads_do_not_disturb_each_other() -> None:
    image = pictures("drawn")[0][:40, :40]
    augmentation = TimmRandAugment("rand-n4-p1")
    alone = [augmentation.apply(image, seed) for seed in range(24)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: augmentation.apply(image, seed), range(24)))
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("config", ["rand-m9-std0.5", "m9", "rand-m9-mstd", "rand-x", "rand-m9-"])
def test_sections_that_timm_would_skip_are_refused(config: str) -> None:
    with pytest.raises(UsageError, match=f"timm_rand_augment': 'config' must be .* got '{config}'"):
        make_augmentation("timm_rand_augment", {"config": config})
