"""`resize_shortest` and `random_scale_crop` against torchvision's and by hand."""

from collections import Counter

import numpy as np
import PIL.Image
import pytest
import torch
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional

from tests.imaging.pictures import difference, pictures
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.augmentations.random_scale_crop import RandomScaleCrop
from unshortcut.augmentations.resize_shortest import ResizeShortest
from unshortcut.errors import UsageError
from unshortcut.randomness import generator

RNG = np.random.default_rng


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [
        (375, 500, (800, 1067)),
        (500, 375, (1067, 800)),
        (300, 900, (444, 1333)),  # the longer side decides
        (1, 4000, (1, 1333)),
    ],
)
def test_the_shorter_side_gets_the_size_unless_the_longer_gets_too_long(
    height: int, width: int, expected: tuple[int, int]
) -> None:
    params = ResizeShortest((800,)).sample(RNG(0), height, width)
    assert (params.height, params.width) == expected


def test_sizes_are_torchvisions_but_for_rounding() -> None:
    for seed in range(50):
        height, width = RNG(seed).integers(20, 700, 2).tolist()
        ours = ResizeShortest((123,), 200).sample(RNG(0), height, width)
        peer = v2.RandomShortestSize(123, 200)
        theirs = peer(torch.zeros(3, height, width, dtype=torch.uint8)).shape[1:]
        assert np.abs(np.array(ours[:2]) - theirs).max() <= 1


def test_sizes_are_equally_likely_and_one_size_needs_no_randomness() -> None:
    resize, rng = ResizeShortest((8, 12, 16)), generator(0)
    counts = Counter(resize.sample(rng, 32, 48).height for _ in range(3000))
    assert set(counts) == {8, 12, 16} and min(counts.values()) > 900
    before = rng.bit_generator.state["state"]["counter"].tolist()
    ResizeShortest((8,)).sample(rng, 32, 48)
    assert rng.bit_generator.state["state"]["counter"].tolist() == before


def test_a_scaled_crop_is_a_crop_of_the_scaled_image() -> None:
    image = pictures("drawn")[0][:90, :120]
    crop = RandomScaleCrop(size=(40, 50), ratio=(0.7, 1.6))
    for seed in range(20):
        params = crop.sample(generator(seed), 90, 120)
        scaled = [round(90 * params.height / params.box[2]), round(120 * 50 / params.box[3])]
        whole = functional.resize(PIL.Image.fromarray(image), scaled)
        top, left = params.box[0] * scaled[0] / 90, params.box[1] * scaled[1] / 120
        assert top == pytest.approx(round(top)) and left == pytest.approx(round(left))
        expected = np.asarray(functional.crop(whole, round(top), round(left), 40, 50))
        out = crop.apply(image, params)
        assert out.shape == (40, 50, 3)
        # Pixels beside the crop have no influence, so its border differs slightly.
        assert difference(out[2:-2, 2:-2], PIL.Image.fromarray(expected[2:-2, 2:-2])) < 0.5


def test_a_small_image_is_padded_at_the_bottom_and_at_the_right() -> None:
    crop = RandomScaleCrop(size=32, ratio=(0.5, 0.5))
    out = crop.apply(np.full((20, 80, 3), 9, np.uint8), crop.sample(generator(0), 20, 80))
    assert (out[:10] == 9).all() and (out[10:] == 0).all()


def test_the_base_may_be_the_shorter_side_of_the_result() -> None:
    for size, base in ((48, 48), ((64, 40), 40)):
        named = make_augmentation("random_scale_crop", {"size": size, "base": "size"})
        counted = RandomScaleCrop(size=size, base=base)
        assert named.sample(RNG(3), 100, 300) == counted.sample(RNG(3), 100, 300)


def test_factors_are_uniform_and_count_from_the_base() -> None:
    rng = generator(0)
    crop = RandomScaleCrop(size=4, ratio=(0.5, 2.0), base=100)
    samples = [crop.sample(rng, 50, 80) for _ in range(2000)]
    factors = np.array([4 / one.box[2] * 50 / 100 for one in samples])  # of the height
    assert (factors.min(), factors.max()) == pytest.approx((0.5, 2.0), abs=0.02)
    assert np.quantile(factors, [0.25, 0.5, 0.75]) == pytest.approx([0.875, 1.25, 1.625], abs=0.06)
    starts = np.array([one.box[1] / (80 - one.box[3]) for one in samples])
    assert np.quantile(starts, [0, 0.5, 1]) == pytest.approx([0, 0.5, 1], abs=0.03)


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("resize_shortest", {"sizes": []}, "'sizes' must not be empty"),
        ("resize_shortest", {"sizes": [0]}, "'sizes.0' must be"),
        ("resize_shortest", {"longest": 0}, "'longest' must be an integer of at least 1, got 0"),
        ("random_scale_crop", {"ratio": [0, 1]}, "'ratio' must be two numbers of at least 0.001"),
        ("random_scale_crop", {"base": 0.5}, "'base' must be an integer of at least 1, or size"),
        ("random_scale_crop", {"base": 0}, "'base' must be an integer of at least 1, or size"),
    ],
)
def test_wrong_settings_are_refused(name: str, settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        make_augmentation(name, settings)
