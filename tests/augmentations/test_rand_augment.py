"""RandAugment against timm's operations and levels, and what it samples."""

from collections import Counter

import numpy as np
import PIL.Image
import pytest
from timm.data import auto_augment as reference

from tests.imaging.pictures import difference, pictures
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.augmentations.rand_augment import (
    OPERATIONS,
    RandAugment,
    Step,
    operate,
)
from unshortcut.errors import UsageError
from unshortcut.randomness import generator

FILL = (124, 116, 104)
THEIR_NAMES = {
    "autocontrast": "AutoContrast",
    "equalize": "Equalize",
    "invert": "Invert",
    "rotate": "Rotate",
    "posterize": "Posterize",
    "solarize": "Solarize",
    "solarize_add": "SolarizeAdd",
    "color": "Color",
    "contrast": "Contrast",
    "brightness": "Brightness",
    "sharpness": "Sharpness",
    "shear_x": "ShearX",
    "shear_y": "ShearY",
    "translate_x": "TranslateXRel",
    "translate_y": "TranslateYRel",
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("magnitude", [3.0, 10.0])
def test_every_operation_of_every_strength_is_timms(operation: str, magnitude: float) -> None:
    sampled = _one_of(operation, magnitude)
    name = THEIR_NAMES[operation]
    level = reference.LEVEL_TO_ARG[name]
    arguments = level(magnitude, {}) if level is not None else ()
    assert [abs(argument) for argument in arguments] == pytest.approx(
        [abs(sampled.amount)] * len(arguments)
    )
    for image in pictures("drawn", 2):
        for cubic in (False, True):
            resample = PIL.Image.Resampling.BICUBIC if cubic else PIL.Image.Resampling.BILINEAR
            theirs = reference.NAME_TO_OP[name](
                PIL.Image.fromarray(image), *arguments, fillcolor=FILL, resample=resample
            )
            amount = arguments[0] if arguments else 0.0  # with the sign that timm has sampled
            ours = operate(image, Step(operation, amount, cubic), FILL)
            assert ours.shape == image.shape and ours.dtype == np.uint8
            assert difference(ours, theirs) < 0.05


def _one_of(operation: str, magnitude: float) -> Step:
    augmentation = RandAugment(count=1, magnitude=magnitude, magnitude_std=0.0, p=1.0)
    rng = generator(0)
    while True:
        (step,) = augmentation.sample(rng, 32, 32)
        if step.operation == operation:
            return step


def test_operations_signs_and_strengths_have_their_distributions() -> None:
    augmentation = RandAugment(count=2, magnitude=5.0, magnitude_std=1.0, p=0.5)
    rng = generator(0)
    samples = [augmentation.sample(rng, 32, 32) for _ in range(6000)]
    lengths = Counter(len(sample) for sample in samples)
    assert [lengths[n] / 6000 for n in range(3)] == pytest.approx([0.25, 0.5, 0.25], abs=0.03)
    steps = [step for sample in samples for step in sample]
    counts = Counter(step.operation for step in steps)
    assert set(counts) == set(OPERATIONS)
    assert min(counts.values()) > 0.8 * len(steps) / 15
    angles = np.array([step.amount for step in steps if step.operation == "rotate"])
    assert np.mean(angles < 0) == pytest.approx(0.5, abs=0.1)
    assert np.mean(np.abs(angles)) == pytest.approx(15, abs=0.6)
    assert np.std(np.abs(angles)) == pytest.approx(3, abs=0.6)
    assert np.mean([step.cubic for step in steps]) == pytest.approx(0.5, abs=0.05)


def test_the_strength_stays_within_its_range() -> None:
    augmentation = RandAugment(count=4, magnitude=10.0, magnitude_std=5.0, p=1.0)
    rng = generator(0)
    amounts = [
        abs(step.amount)
        for _ in range(400)
        for step in augmentation.sample(rng, 32, 32)
        if step.operation == "shear_x"
    ]
    assert 0 <= min(amounts) < max(amounts) == pytest.approx(0.3)


def test_steps_are_applied_in_order_to_a_copy() -> None:
    image = pictures("drawn")[0]
    before = image.copy()
    steps = (Step("invert", 0.0, False), Step("posterize", 2.0, False))
    out = RandAugment().apply(image, steps)
    assert np.array_equal(out, (255 - image) // 64 * 64)
    assert np.array_equal(image, before)
    assert RandAugment().apply(image, ()) is image


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"magnitude": 11}, "rand_augment': 'magnitude' must be a number from 0 to 10, got 11"),
        ({"count": 0}, "rand_augment': 'count' must be an integer from 1 to 100"),
        (
            {"fill": [0, 0, 256]},
            "'fill.2' must be less than or equal to 255, got 256",
        ),
        ({"p": 2}, "rand_augment': 'p' must be a number from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_augmentation("rand_augment", settings)
