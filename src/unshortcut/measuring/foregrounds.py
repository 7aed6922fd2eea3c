"""Foreground and background of annotated images, as a model sees them."""

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.augmentations.center_crop import CenterCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.data.regions import IGNORED, Regions
from unshortcut.data.source import ImageSource
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.images import Pixels, Prepared
from unshortcut.views.evaluation import EvaluationView

Mask = NDArray[np.bool_]
"""(S, S)"""
BACKGROUND = "background"
"""The class of a mask that is not foreground."""
_COARSE = 32
"""Side at which fillings are computed; they are smooth."""


def check_annotated(source: ImageSource) -> None:
    """Raise `NotApplicable` for images without boxes, and without masks that have a background."""
    if source.mask_classes is not None and BACKGROUND in source.mask_classes:
        return
    if source.box_classes is None:
        raise NotApplicable(
            "the data say nothing of where objects are: masks with the class background do, or "
            "boxes (docs/data.md)"
        )


def foregrounds(images: Prepared) -> list[Mask]:
    """Where the objects of each image are, by its mask, or else inside its boxes."""
    return [_foreground(images, int(index)) for index in images.indices]


def without_foreground(pixels: Pixels, mask: Mask) -> Pixels:
    """The image with its foreground replaced by a smooth mean of the background around it."""
    kept = (~mask).astype(np.float32)
    weighted = np.dstack([pixels * kept[:, :, None], kept])
    small = cv2.resize(weighted, (_COARSE, _COARSE), interpolation=cv2.INTER_AREA)
    filling, sigma = small.copy(), 1.0
    # Each round reaches further into the foreground, where the last one found no background.
    while sigma < 2 * _COARSE:
        around = cv2.GaussianBlur(small, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
        empty = filling[:, :, 3] < 0.05
        filling[empty] = around[empty]
        sigma *= 2
    mean = filling[:, :, :3] / np.maximum(filling[:, :, 3:], 1e-6)
    side = len(pixels)
    smooth = cv2.resize(mean, (side, side), interpolation=cv2.INTER_LINEAR)
    return np.where(mask[:, :, None], smooth.round().clip(0, 255), pixels).astype(np.uint8)


def _foreground(images: Prepared, index: int) -> Mask:
    source, view = images.source, images.view
    assert isinstance(view, EvaluationView)
    image, regions = source.image(index), source.regions(index)
    full = _full_mask(source, regions, image.height, image.width)
    pipeline = Pipeline([Resize(round(view.size / view.crop_share)), CenterCrop(view.size)])
    params = pipeline.sample(None, image.height, image.width)  # type: ignore[arg-type]
    seen = pipeline.apply_regions(Regions(mask=full), params, image.height, image.width).mask
    assert seen is not None
    return seen == 1


def _full_mask(source: ImageSource, regions: Regions, height: int, width: int) -> NDArray[np.uint8]:
    """1 on objects, 0 elsewhere, for the full image."""
    classes = source.mask_classes
    if regions.mask is not None and classes is not None and BACKGROUND in classes:
        # The border between the two is of neither class; it would betray the object.
        outside = (regions.mask == classes.index(BACKGROUND)) & (regions.mask != IGNORED)
        return (~outside).astype(np.uint8)
    full = np.zeros((height, width), dtype=np.uint8)
    for box in () if regions.boxes is None else regions.boxes:
        left, top = np.floor(box[:2]).astype(int).clip(0)
        right, bottom = np.ceil(box[2:]).astype(int)
        full[top:bottom, left:right] = 1
    return full
