"""Color adjustments against torchvision's functions on PIL images."""

from itertools import permutations

import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest
import torchvision.transforms.functional as functional

from tests.imaging.pictures import KINDS, difference, pictures
from unshortcut.imaging.color import ColorStep, adjust, gray, solarize

REFERENCE = {
    ColorStep.BRIGHTNESS: functional.adjust_brightness,
    ColorStep.CONTRAST: functional.adjust_contrast,
    ColorStep.SATURATION: functional.adjust_saturation,
    ColorStep.HUE: functional.adjust_hue,
}
AMOUNTS = {
    ColorStep.BRIGHTNESS: (0.0, 0.6, 1.0, 1.4, 3.0),
    ColorStep.CONTRAST: (0.0, 0.6, 1.0, 1.4, 3.0),
    ColorStep.SATURATION: (0.0, 0.6, 1.0, 1.4, 3.0),
    ColorStep.HUE: (-0.5, -0.1, 0.0, 0.03, 0.1, 0.5),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", list(REFERENCE))
def test_each_step_is_torchvisions(kind: str, step: ColorStep) -> None:
    for image in pictures(kind, 6):
        for amount in AMOUNTS[step]:
            reference = REFERENCE[step](PIL.Image.fromarray(image), amount)
            assert difference(adjust(image, [(step, amount)]), reference) < 0.05


def test_every_order_of_the_steps_is_torchvisions() -> None:
    rng = np.random.default_rng(0)
    image = pictures("drawn")[0]
    for order in permutations(REFERENCE):
        steps = [
            (
                step,
                float(rng.uniform(-0.1, 0.1) if step is ColorStep.HUE else rng.uniform(0.6, 1.4)),
            )
            for step in order
        ]
        reference = PIL.Image.fromarray(image)
        for step, amount in steps:
            reference = REFERENCE[step](reference, amount)
        assert difference(adjust(image, steps), reference) < 0.1


def test_contrast_twice_takes_the_mean_anew() -> None:
    image = pictures("drawn")[0]
    once = adjust(image, [(ColorStep.CONTRAST, 2.0)])
    twice = adjust(once, [(ColorStep.CONTRAST, 1.5)])
    np.testing.assert_array_equal(
        adjust(image, [(ColorStep.CONTRAST, 2.0), (ColorStep.CONTRAST, 1.5)]), twice
    )


def test_every_color_survives_a_round_of_hue() -> None:
    levels = np.arange(0, 256, 15, dtype=np.uint8)
    colors = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 18, 3)
    for amount in (0.0, 0.25, -0.4):
        reference = functional.adjust_hue(PIL.Image.fromarray(colors), amount)
        assert (
            np.abs(adjust(colors, [(ColorStep.HUE, amount)]) - np.asarray(reference, int)).max()
            <= 6
        )
        assert difference(adjust(colors, [(ColorStep.HUE, amount)]), reference) < 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_gray_is_torchvisions(kind: str) -> None:
    for image in pictures(kind, 4):
        reference = functional.to_grayscale(PIL.Image.fromarray(image), num_output_channels=3)
        assert difference(gray(image), reference) < 0.01


@pytest.mark.parametrize("threshold", [0, 100.5, 128, 256])
def test_solarize_is_pillows(threshold: float) -> None:
    image = pictures("drawn")[0]
    reference = PIL.ImageOps.solarize(PIL.Image.fromarray(image), threshold)
    np.testing.assert_array_equal(solarize(image, threshold), np.asarray(reference))


def test_the_input_is_not_changed_and_no_steps_give_a_copy() -> None:
    image = pictures("drawn")[0]
    before = image.copy()
    adjust(image, [(ColorStep.BRIGHTNESS, 0.5), (ColorStep.CONTRAST, 2.0)])
    copy = adjust(image, [])
    copy[:] = 0
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("shape", [(1, 1), (1, 1025), (31, 33)])
def test_sizes_around_the_block_are_whole(shape: tuple[int, int]) -> None:
    image = np.full((*shape, 3), 100, np.uint8)
    assert (adjust(image, [(ColorStep.BRIGHTNESS, 0.5)]) == 50).all()
