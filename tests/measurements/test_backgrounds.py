"""Backgrounds: a model of objects and a model of backgrounds are told apart."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.measuring.made import Arrays, arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.data.regions import Regions
from unshortcut.measurements.backgrounds import Backgrounds, BackgroundsResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.foregrounds import without_foreground

SIDE, LEFT, RIGHT = 32, 10, 22
CLASSES = ("red", "green", "blue")


class Framed(Arrays):
    """A square in the color of the class, on a background of a darker shade of it."""

    box_classes = ("thing",)

    def __init__(self, *, masks: bool = False) -> None:
        labels = np.arange(30) % 3
        images = np.full((30, SIDE, SIDE, 3), 20, np.uint8)
        for image, label in zip(images, labels, strict=True):
            image[..., label] = 90
            image[LEFT:RIGHT, LEFT:RIGHT] = 20
            image[LEFT:RIGHT, LEFT:RIGHT, label] = 250
        super().__init__(images, labels, CLASSES)
        self.mask_classes = ("background", "thing") if masks else None

    def regions(self, index: int) -> Regions:
        mask = np.zeros((SIDE, SIDE), np.uint8)
        mask[LEFT:RIGHT, LEFT:RIGHT] = 1
        boxes = np.array([[LEFT, LEFT, RIGHT, RIGHT]], np.float32)
        drawn = mask if self.mask_classes else None
        return Regions.of_boxes(boxes, np.zeros(1, np.int64), mask=drawn)


def by_object(images: Tensor) -> Tensor:
    return 50 * images[:, :, LEFT:RIGHT, LEFT:RIGHT].mean(dim=(2, 3))


def by_background(images: Tensor) -> Tensor:
    return 50 * torch.cat([images[:, :, :6], images[:, :, -6:]], dim=2).mean(dim=(2, 3))


def measured(model: object, *, masks: bool = False) -> BackgroundsResult:
    subject = subject_of(model, Framed(masks=masks))  # type: ignore[arg-type]
    return Backgrounds().measure(subject, lambda done, total: None)


@pytest.mark.parametrize("masks", [False, True])
def test_a_model_of_objects_has_no_gap(masks: bool) -> None:
    result = measured(by_object, masks=masks)
    assert result.mixed_same.value == result.mixed_random.value == 1
    assert result.gap.value == 0 and Backgrounds().finding(result) is None


def test_a_model_of_backgrounds_follows_them() -> None:
    result = measured(by_background)
    assert result.only_background.value == result.mixed_same.value == 1
    assert result.mixed_random.value == 0 and result.gap.value == 1
    finding = Backgrounds().finding(result)
    assert finding is not None and "100 % of accuracy" in finding.text
    assert Backgrounds().metrics(result, None)["background_gap"].value == 1
    assert to_json(from_json(BackgroundsResult, to_json(result))) == to_json(result)
    assert len(Backgrounds().exhibits({"it": result}, None)) == 3


def test_an_object_is_filled_from_around_it() -> None:
    source = Framed()
    pixels = source.image(0).pixels()
    mask = np.zeros((SIDE, SIDE), bool)
    mask[LEFT:RIGHT, LEFT:RIGHT] = True
    filled = without_foreground(pixels, mask)
    assert np.abs(filled.astype(int) - pixels[0, 0]).max() <= 2
    large = np.ones((SIDE, SIDE), bool)
    large[:, :2] = False
    assert np.abs(without_foreground(pixels, large).astype(int) - pixels[0, 0]).max() <= 2


def test_images_without_annotated_objects_have_no_backgrounds() -> None:
    plain = arrays(np.zeros((4, 16, 16, 3), np.uint8), [0, 1, 0, 1], ("a", "b"))
    with pytest.raises(NotApplicable, match="masks with the class background"):
        Backgrounds().measure(subject_of(lambda x: x[:, :2, 0, 0], plain), lambda d, t: None)
