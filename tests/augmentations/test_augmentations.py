"""Augmentations sample what torchvision's sample, and apply it as torchvision does."""

import io
import tarfile
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
import torchvision.transforms.functional as functional
from scipy import stats
from torchvision.transforms import ColorJitter as TorchvisionJitter
from torchvision.transforms import InterpolationMode
from torchvision.transforms import RandomCrop as TorchvisionCrop
from torchvision.transforms import RandomResizedCrop as TorchvisionResizedCrop

from tests.imaging.pictures import difference, pictures
from tests.real_data import real_data
from unshortcut.augmentations.augmentation import Augmentation, Pipeline, make_augmentation
from unshortcut.data.decode import EncodedImage
from unshortcut.discovery import find
from unshortcut.errors import UsageError
from unshortcut.imaging.color import ColorStep
from unshortcut.imaging.geometry import resize_box
from unshortcut.randomness import generator

SAMPLES = 1500
RNG = np.random.default_rng


def same_distribution(ours: list[float], reference: list[float]) -> bool:
    return bool(stats.ks_2samp(ours, reference).pvalue > 1e-3)


@pytest.mark.parametrize(("height", "width"), [(375, 500), (100, 1000), (50, 40)])
def test_crops_are_drawn_as_torchvision_draws_them(height: int, width: int) -> None:
    torch.manual_seed(0)
    crop = make_augmentation("random_resized_crop", {"scale": (0.2, 1.0)})
    rng = generator(0, "crops")
    ours = [crop.sample(rng, height, width) for _ in range(SAMPLES)]
    image = torch.zeros(3, height, width)
    reference = [
        TorchvisionResizedCrop.get_params(image, [0.2, 1.0], [3 / 4, 4 / 3]) for _ in range(SAMPLES)
    ]
    assert {(box.full_height, box.full_width) for box in ours} == {(height, width)}
    for measure in (
        lambda top, left, h, w: h * w,
        lambda top, left, h, w: w / h,
        lambda top, left, h, w: top,
        lambda top, left, h, w: left,
    ):
        assert same_distribution(
            [measure(*box[:4]) for box in ours], [measure(*box) for box in reference]
        )


@pytest.mark.parametrize(("height", "width"), [(10, 1000), (1000, 10), (1, 1), (1, 5000)])
def test_a_thin_image_gives_the_largest_box_in_its_middle(height: int, width: int) -> None:
    crop = make_augmentation("random_resized_crop", {"scale": (0.9, 1.0), "size": 8})
    params = crop.sample(RNG(0), height, width)
    image = torch.zeros(3, height, width)
    assert params[:4] == TorchvisionResizedCrop.get_params(image, [0.9, 1.0], [3 / 4, 4 / 3])
    assert crop.apply(np.zeros((height, width, 3), np.uint8), params).shape == (8, 8, 3)


def test_crops_of_jpegs_decoded_smaller_stay_close_to_torchvisions() -> None:
    crop = make_augmentation("random_resized_crop", {"size": 48})
    shrunk = 0
    with tarfile.open(real_data("photos.tar")) as archive:
        for number, name in enumerate(sorted(archive.getnames())):
            file = archive.extractfile(name)
            assert file is not None
            data = file.read()
            image = EncodedImage(data)
            box = crop.sample(generator(number), image.height, image.width)
            pixels = image.pixels(crop.shrink(box))
            shrunk += pixels.shape[0] < image.height
            whole = PIL.Image.open(io.BytesIO(data)).convert("RGB")
            reference = functional.resized_crop(
                whole, *box[:4], [48, 48], InterpolationMode.BILINEAR
            )
            assert difference(crop.apply(pixels, box), reference) < 3
    assert shrunk > 20


def test_jitter_is_drawn_as_torchvision_draws_it() -> None:
    torch.manual_seed(0)
    settings: dict[str, Any] = {"brightness": 0.4, "contrast": [0.2, 1.1], "saturation": 2.0}
    jitter = make_augmentation("color_jitter", {**settings, "hue": 0.1, "p": 1.0})
    rng = generator(0, "jitter")
    ours = [dict(jitter.sample(rng, 10, 10)) for _ in range(SAMPLES)]
    peer = TorchvisionJitter(**settings, hue=0.1)
    reference = [
        TorchvisionJitter.get_params(peer.brightness, peer.contrast, peer.saturation, peer.hue)
        for _ in range(SAMPLES)
    ]
    for position, step in enumerate(
        (ColorStep.BRIGHTNESS, ColorStep.CONTRAST, ColorStep.SATURATION, ColorStep.HUE), start=1
    ):
        assert same_distribution(
            [one[step] for one in ours], [float(one[position]) for one in reference]
        )
    orders = [tuple(one) for one in ours]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-3


def test_a_jitter_of_nothing_leaves_the_step_out() -> None:
    jitter = make_augmentation("color_jitter", {"brightness": 0, "hue": 0.0, "p": 1.0})
    assert {step for step, _ in jitter.sample(RNG(0), 9, 9)} == {
        ColorStep.CONTRAST,
        ColorStep.SATURATION,
    }


def test_a_blur_with_a_kernel_size_spreads_no_further() -> None:
    image = np.zeros((9, 9, 3), np.uint8)
    image[4, 4] = 255
    settings = {"sigma": (2.0, 2.0), "p": 1.0}
    narrow = make_augmentation("gaussian_blur", {**settings, "kernel_size": 3}).apply(image, 2.0)
    wide = make_augmentation("gaussian_blur", settings).apply(image, 2.0)
    assert {tuple(at) for at in np.argwhere(narrow[..., 0])} == {
        (y, x) for y in (3, 4, 5) for x in (3, 4, 5)
    }
    assert (wide[..., 0] > 0).sum() > 9
    with pytest.raises(UsageError, match="sigma must be above 0"):
        make_augmentation("gaussian_blur", {"sigma": (0, 1), "kernel_size": 3})


def test_blur_is_drawn_uniformly() -> None:
    blur = make_augmentation("gaussian_blur", {"p": 1.0, "sigma": [0.1, 2.0]})
    rng = generator(0, "blur")
    samples = [blur.sample(rng, 10, 10) for _ in range(SAMPLES)]
    assert stats.kstest(samples, stats.uniform(0.1, 1.9).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "name",
    (
        "color_jitter",
        "grayscale",
        "gaussian_blur",
        "horizontal_flip",
        "vertical_flip",
        "solarize",
        "rotation",
        "random_erasing",
    ),
)
@pytest.mark.parametrize("p", [0.0, 0.2, 1.0])
def test_p_is_how_often_an_image_is_changed(name: str, p: float) -> None:
    augmentation = make_augmentation(name, {"p": p})
    rng = generator(0, name)
    changed = sum(augmentation.sample(rng, 10, 10) is not None for _ in range(SAMPLES))
    assert (
        stats.binomtest(changed, SAMPLES, p).pvalue > 1e-3 if 0 < p < 1 else changed == p * SAMPLES
    )
    image = pictures("drawn")[0]
    np.testing.assert_array_equal(augmentation.apply(image, None), image)


@pytest.mark.parametrize(
    ("name", "settings", "reference"),
    [
        ("grayscale", {}, lambda image: functional.to_grayscale(image, 3)),
        ("horizontal_flip", {}, functional.hflip),
        ("vertical_flip", {}, functional.vflip),
        ("solarize", {"threshold": 100}, lambda image: functional.solarize(image, 100)),
        ("rotation", {"angles": [90]}, lambda image: functional.rotate(image, 90, expand=True)),
        ("rotation", {"angles": [270]}, lambda image: functional.rotate(image, 270, expand=True)),
        ("resize", {"size": 96}, lambda image: functional.resize(image, 96)),
        ("resize", {"size": [50, 70]}, lambda image: functional.resize(image, [50, 70])),
        ("center_crop", {"size": 97}, lambda image: functional.center_crop(image, 97)),
        ("center_crop", {"size": [903, 98]}, lambda im: functional.center_crop(im, [903, 98])),
    ],
)
def test_images_are_torchvisions(name: str, settings: dict[str, Any], reference: Any) -> None:
    augmentation = make_augmentation(name, settings)
    for image in pictures("drawn"):
        for picture in (image, np.ascontiguousarray(image[:-1, :-2]).transpose(1, 0, 2)):
            height, width = picture.shape[:2]
            samples = (augmentation.sample(RNG(seed), height, width) for seed in range(50))
            params = next((one for one in samples if one is not None), None)
            out = augmentation.apply(picture, params)
            assert difference(out, reference(PIL.Image.fromarray(picture))) < 0.5
            assert augmentation.output_size(params, height, width) == out.shape[:2]


def test_random_crop_is_drawn_and_cut_as_torchvisions() -> None:
    torch.manual_seed(0)
    crop = make_augmentation("random_crop", {"size": 32, "padding": 4})
    rng = generator(0, "crop")
    ours = [crop.sample(rng, 32, 40) for _ in range(SAMPLES)]
    padded = torch.zeros(3, 40, 48)
    reference = [TorchvisionCrop.get_params(padded, (32, 32)) for _ in range(SAMPLES)]
    for axis in range(2):
        assert same_distribution([one[axis] + 4 for one in ours], [one[axis] for one in reference])
    image = np.random.default_rng(0).integers(0, 256, (32, 40, 3), dtype=np.uint8)
    wide = functional.pad(PIL.Image.fromarray(image), 4)
    for top, left in ours[:20]:
        expected = functional.crop(wide, top + 4, left + 4, 32, 32)
        np.testing.assert_array_equal(crop.apply(image, (top, left)), np.asarray(expected))
    small = np.full((5, 7, 3), 9, np.uint8)
    out = crop.apply(small, crop.sample(rng, 5, 7))
    assert out.shape == (32, 32, 3)
    assert (out == 9).sum() == small.size


def test_an_image_of_the_size_that_is_asked_for_is_not_resized() -> None:
    image = np.random.default_rng(0).integers(0, 256, (40, 56, 3), dtype=np.uint8)
    resize = make_augmentation("resize", {"size": 40})
    same = resize.apply(image, resize.sample(generator(0), 40, 56))
    assert same is image
    assert np.array_equal(image, resize_box(image, (0, 0, 40, 56), 40, 56))


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (
            "random_resized_crop",
            {"size": 0},
            "'size' must be a number of pixels",
        ),
        ("random_resized_crop", {"size": "big"}, "got 'big'"),
        ("random_resized_crop", {"scale": [0.5, 0.1]}, "the lower first, got \\[0.5, 0.1\\]"),
        ("random_resized_crop", {"scale": [0.0, 2.0]}, "random_resized_crop: 'scale'"),
        ("random_resized_crop", {"ratio": 1.0}, "random_resized_crop: 'ratio' must be two numbers"),
        (
            "color_jitter",
            {"hue": 0.7},
            "color_jitter: 'hue' must be .* from -0.5 to 0.5, .*got 0.7",
        ),
        ("color_jitter", {"brightness": -1}, "color_jitter: 'brightness'"),
        (
            "color_jitter",
            {"contrast": [1, 2, 3]},
            "color_jitter: 'contrast' .* two numbers",
        ),
        ("color_jitter", {"p": 1.5}, "color_jitter: 'p' must be a number from 0 to 1, got 1.5"),
        ("grayscale", {"p": True}, "grayscale: 'p'"),
        ("gaussian_blur", {"sigma": [-1, 2]}, "gaussian_blur: 'sigma'"),
        ("horizontal_flip", {"p": "often"}, "horizontal_flip: 'p'"),
        ("solarize", {"threshold": 300}, "solarize: 'threshold' must be a number from 0 to 256"),
        ("rotation", {"angles": [45]}, "rotation: 'angles.0' must be 90, 180 or 270, got 45"),
        ("rotation", {"angles": []}, "rotation: 'angles' must not be empty"),
        ("resize", {"size": [1, 2, 3]}, "resize: 'size'"),
        ("random_crop", {"padding": -1}, "random_crop: 'padding'"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(
    name: str, settings: dict[str, Any], sentence: str
) -> None:
    kind = find("unshortcut.augmentations", Augmentation, name, "augmentation")
    with pytest.raises(UsageError, match=sentence):
        kind(**settings)


def test_a_recipe_s_wrong_type_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="augmentation 'grayscale': 'p' must be a number from"):
        make_augmentation("grayscale", {"p": "often"})


def moco_pipeline() -> Pipeline:
    names = ("random_resized_crop", "color_jitter", "grayscale", "gaussian_blur", "horizontal_flip")
    return Pipeline([make_augmentation(name, {}) for name in names])


def test_the_same_key_gives_the_same_view_and_the_input_stays() -> None:
    pipeline = moco_pipeline()
    image = pictures("drawn")[0]
    before = image.copy()
    views = []
    for key in (1, 1, 2):
        samples = pipeline.sample(generator(key), *image.shape[:2])
        views.append(pipeline.apply(image, samples))
    assert views[0].shape == (224, 224, 3)
    np.testing.assert_array_equal(views[0], views[1])
    assert not np.array_equal(views[0], views[2])
    np.testing.assert_array_equal(image, before)


def test_augmentations_are_values() -> None:
    """Equal settings make equal augmentations, lists or tuples."""
    first: Augmentation = make_augmentation("random_resized_crop", {"scale": [0.2, 1.0]})
    assert first == make_augmentation("random_resized_crop", {"scale": (0.2, 1)})
    assert hash(first) == hash(make_augmentation("random_resized_crop", {}))
