"""All corruptions against the published definitions, to the pixel for the same random numbers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import PIL.Image
import pytest

from tests.imaging.corruptions.reference import REFERENCES
from tests.imaging.pictures import pictures
from unshortcut.errors import UsageError
from unshortcut.imaging.corruptions import (
    APPROXIMATE,
    CORRUPTIONS,
    GROUPS,
    SEVERITIES,
    corrupt,
    parameters,
)
from unshortcut.randomness import generator

PUBLISHED_ORDER = [
    *("gaussian_noise", "shot_noise", "impulse_noise"),
    *("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    *("snow", "frost", "fog", "brightness"),
    *("contrast", "elastic_transform", "pixelate", "jpeg_compression"),
]


def images() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    sampled = pictures("drawn", 1)[0]
    return {
        "sampled": sampled[:48, :64],
        "noise": rng.integers(0, 256, (41, 33, 3), dtype=np.uint8),
        "flat": np.full((32, 32, 3), 129, np.uint8),
        "black": np.zeros((32, 40, 3), np.uint8),
    }


@pytest.mark.parametrize("severities", SEVERITIES)
@pytest.mark.parametrize("name", REFERENCES)
def test_it_is_the_published_definition_to_the_pixel(name: str, severities: str) -> None:
    for kind, image in images().items():
        for severity in range(1, 6):
            numbers = parameters(name, severity, severities)
            rng = generator(severity, kind)
            sampled = CORRUPTIONS[name].sample(rng, *image.shape[:2], numbers)
            ours = CORRUPTIONS[name].apply(image, numbers, sampled)
            theirs = REFERENCES[name](image, numbers, sampled)
            assert np.array_equal(ours, theirs), (kind, severity)


@pytest.mark.parametrize("name", ["zoom_blur", "elastic_transform", "fog", "snow"])
def test_it_is_the_published_definition_on_photographs_of_the_published_size(name: str) -> None:
    for number, photo in enumerate(pictures("photographs", 2)):
        image = photo[:224, :224]
        for severity in (1, 4):
            numbers = parameters(name, severity)
            sampled = CORRUPTIONS[name].sample(generator(number), 224, 224, numbers)
            ours = CORRUPTIONS[name].apply(image, numbers, sampled)
            assert np.array_equal(ours, REFERENCES[name](image, numbers, sampled))


@pytest.mark.parametrize(("side", "severities"), [(224, "imagenet"), (32, "cifar")])
def test_pixels_are_repeated_as_a_box_filter_does_at_the_published_sizes(
    side: int, severities: str
) -> None:
    """The scripts enlarge with a box, `imagecorruptions` by the nearest pixel."""
    image = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    for severity in range(1, 6):
        small = int(side * parameters("pixelate", severity, severities)[0])
        boxes = PIL.Image.fromarray(image).resize((small, small), PIL.Image.Resampling.BOX)
        theirs = np.array(boxes.resize((side, side), PIL.Image.Resampling.BOX))
        assert np.array_equal(
            corrupt(image, "pixelate", severity, generator(0), severities), theirs
        )


def test_names_and_groups_are_the_published_ones() -> None:
    assert list(CORRUPTIONS) == PUBLISHED_ORDER
    assert [name for group in GROUPS.values() for name in group] == PUBLISHED_ORDER
    assert {group: len(names) for group, names in GROUPS.items()} == {
        "noise": 3,
        "blur": 4,
        "weather": 4,
        "digital": 4,
    }
    assert APPROXIMATE == ("snow", "frost")


def test_the_two_sets_of_severities_are_the_published_ones() -> None:
    """Figures as the two scripts have them, for images of 224 and of 32 px."""

    def all_five(name: str, severities: str, number: int = 0) -> list[float]:
        return [parameters(name, s, severities)[number] for s in range(1, 6)]

    assert all_five("gaussian_noise", "imagenet") == [0.08, 0.12, 0.18, 0.26, 0.38]
    assert all_five("gaussian_noise", "cifar") == [0.04, 0.06, 0.08, 0.09, 0.10]
    assert all_five("shot_noise", "imagenet") == [60, 25, 12, 5, 3]
    assert all_five("shot_noise", "cifar") == [500, 250, 100, 75, 50]
    assert all_five("contrast", "imagenet") == [0.4, 0.3, 0.2, 0.1, 0.05]
    assert all_five("contrast", "cifar") == [0.75, 0.5, 0.4, 0.3, 0.15]
    assert all_five("jpeg_compression", "imagenet") == [25, 18, 15, 10, 7]
    assert all_five("jpeg_compression", "cifar") == [80, 65, 58, 50, 40]
    assert all_five("pixelate", "imagenet") == [0.6, 0.5, 0.4, 0.3, 0.25]
    assert all_five("pixelate", "cifar") == [0.95, 0.9, 0.85, 0.75, 0.65]
    assert 224 * np.array(parameters("elastic_transform", 1)) == pytest.approx([488, 170.8, 24.4])
    assert 32 * np.array(parameters("elastic_transform", 3, "cifar")) == pytest.approx(
        [2.56, 1.92, 1.92]
    )


@pytest.mark.parametrize("severities", SEVERITIES)
@pytest.mark.parametrize("name", PUBLISHED_ORDER)
def test_every_size_from_8_px_gives_a_changed_copy_of_its_shape(name: str, severities: str) -> None:
    rng = np.random.default_rng(1)
    for height, width in ((8, 8), (8, 31), (65, 17), (130, 300)):
        image = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        before = image.copy()
        for severity in (1, 5):
            out = corrupt(image, name, severity, generator(severity), severities)
            assert out.shape == image.shape
            assert out.dtype == np.uint8
            assert out.flags.writeable
            assert not np.shares_memory(out, image)
            assert np.array_equal(image, before)
            if min(height, width) > 8:
                assert not np.array_equal(out, image)


@pytest.mark.parametrize("name", PUBLISHED_ORDER)
def test_views_and_other_layouts_of_memory_are_read_right(name: str) -> None:
    image = np.random.default_rng(2).integers(0, 256, (40, 64, 3), dtype=np.uint8)
    turned = image.transpose(1, 0, 2)[::-1]
    turned.flags.writeable = False
    plain = np.ascontiguousarray(turned)
    assert np.array_equal(
        corrupt(turned, name, 3, generator(0)), corrupt(plain, name, 3, generator(0))
    )


@pytest.mark.parametrize("name", PUBLISHED_ORDER)
def test_threads_give_the_same_images_as_one_after_the_other(name: str) -> None:
    image = pictures("drawn", 1)[0][:64, :64]

    def one(key: int) -> np.ndarray:
        return corrupt(image, name, key % 5 + 1, generator(key))

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, range(5)))
    for key, out in enumerate(together):
        assert np.array_equal(out, one(key))


@pytest.mark.parametrize("name", PUBLISHED_ORDER)
def test_a_higher_severity_is_farther_from_the_image(name: str) -> None:
    image = pictures("drawn", 1)[0][:128, :128]

    def distance(severity: int) -> float:
        runs = [corrupt(image, name, severity, generator(k)) for k in range(3)]
        return float(np.mean([(run.astype(float) - image) ** 2 for run in runs]))

    # The published elastic transform is not ordered; its first two severities are the strongest.
    weak, strong = (3, 5) if name == "elastic_transform" else (1, 5)
    assert distance(weak) < distance(strong)


def test_what_is_not_known_is_named_with_what_is_near() -> None:
    image = np.zeros((8, 8, 3), np.uint8)
    rng = generator(0)
    with pytest.raises(UsageError, match="'gausian_noise'; did you mean 'gaussian_noise'"):
        corrupt(image, "gausian_noise", 1, rng)
    for severity in (0, 6, 2.5, True):
        with pytest.raises(UsageError, match=f"from 1 to 5, not {severity}"):
            corrupt(image, "fog", severity, rng)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'imagenette'; did you mean 'imagenet'"):
        corrupt(image, "fog", 1, rng, "imagenette")


@pytest.mark.parametrize(
    "image",
    [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 4), np.uint8), np.zeros((9, 9, 3), np.float32)],
)
def test_another_kind_of_array_is_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"must be uint8 of shape \(h, w, 3\)"):
        corrupt(image, "fog", 1, generator(0))


def test_an_image_below_8_px_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 px, not 7 × 9"):
        corrupt(np.zeros((7, 9, 3), np.uint8), "fog", 1, generator(0))
