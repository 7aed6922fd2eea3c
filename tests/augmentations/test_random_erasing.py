"""Random erasing: boxes as torchvision draws them, noise as timm's."""

import numpy as np
import pytest
import torch
from scipy import stats
from torchvision.transforms import RandomErasing as TorchvisionErasing

from tests.augmentations.test_augmentations import same_distribution
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.augmentations.random_erasing import Erased, RandomErasing
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.randomness import generator

IMAGE = np.full((60, 80, 3), 200, np.uint8)


@pytest.mark.parametrize(("height", "width"), [(224, 224), (60, 160)])
def test_boxes_are_drawn_as_torchvision_draws_them(height: int, width: int) -> None:
    torch.manual_seed(0)
    erasing, rng = RandomErasing(p=1.0), generator(0, "erasing")
    ours = [erasing.sample(rng, height, width) for _ in range(1500)]
    image = torch.zeros(3, height, width)
    scale, ratio = list(erasing.scale), list(erasing.ratio)
    reference = [TorchvisionErasing.get_params(image, scale, ratio, [0.0])[:4] for _ in range(1500)]
    for measure in (
        lambda top, left, h, w: h * w,
        lambda top, left, h, w: h / w,
        lambda top, left, h, w: top,
        lambda top, left, h, w: left,
    ):
        assert same_distribution(
            [measure(*box[:4]) for box in ours if box is not None],
            [measure(*box) for box in reference],
        )


def test_a_box_is_filled_and_the_rest_stays() -> None:
    box = Erased(5, 10, 40, 50, seed=3)
    for fill in ("noise", (1, 2, 3)):
        erased = RandomErasing(fill=fill).apply(IMAGE, box)  # type: ignore[arg-type]
        assert (IMAGE == 200).all(), "the image itself is not changed"
        inside = erased[5:45, 10:60]
        assert (erased != 200).any(axis=2).sum() == (inside != 200).any(axis=2).sum()
        if fill == "noise":
            normalized = (inside / 255 - np.array(IMAGENET_MEAN)) / np.array(IMAGENET_STD)
            for channel in range(3):
                values = normalized[..., channel].ravel()
                assert abs(values.mean()) < 0.06 and abs(values.std() - 1) < 0.06
                between = values[np.abs(values) < 1.5]  # levels end near 2
                cdf = stats.truncnorm(-1.5, 1.5).cdf
                assert stats.kstest(between, cdf).statistic < 0.06
            other = RandomErasing().apply(IMAGE, box._replace(seed=4))
            assert not np.array_equal(erased, other)
        else:
            assert (inside == fill).all()


def test_a_key_gives_one_view_and_no_box_leaves_the_image() -> None:
    erasing = RandomErasing(p=1.0)
    first, second = (erasing.sample(generator(7), 60, 80) for _ in range(2))
    assert first == second and first is not None
    np.testing.assert_array_equal(erasing.apply(IMAGE, first), erasing.apply(IMAGE, second))
    assert RandomErasing(p=1.0, scale=(1, 1), ratio=(1, 1)).sample(generator(0), 60, 80) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": [0.5, 0.1]}, "'scale' must be two numbers .* the lower first"),
        ({"fill": "gray"}, "'fill' must be noise, or a color of three levels from 0 to 255"),
        ({"fill": [1, 2]}, "'fill' must be noise, or a color of three levels from 0 to 255"),
        ({"fill": [1, 2, 256]}, "'fill' must be noise, or a color of three levels from 0 to 255"),
        ({"p": 2}, "'p' must be a number from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=f"random_erasing': {message}"):
        make_augmentation("random_erasing", settings)
