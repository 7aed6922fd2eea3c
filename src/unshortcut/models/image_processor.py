"""The preprocessing of a model of transformers, from the settings of its image processor."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from unshortcut.errors import UsageError
from unshortcut.inference.images import ImageTransform
from unshortcut.inference.preprocessing import Preprocessing

Color = tuple[float, float, float]

_WARPED_FROM = 384
"""Processors with `crop_pct` and without a crop of their own stretch images from this size on."""
_TOLERANCE = 0.1
"""Mean difference, in standard deviations, from the processor's own output on a smooth image; that
of another interpolation is below 0.001, and that of a crop that is off by a pixel below 0.1."""


@dataclass(frozen=True)
class ImageProcessing:
    """How images are prepared, and in which order the model takes their channels."""

    preprocessing: Preprocessing
    blue_first: bool
    """Whether the model takes blue, green, red; `preprocessing` is for red, green, blue."""


def image_processing(processor: Any, spec: str, stated: Mapping[str, Any]) -> ImageProcessing:
    """Translate the settings of an image processor of transformers.

    The result is compared with the processor's own output for one image, and a warning says if
    they differ, since processors are programs of which only the settings are known.

    Args:
        stated: fields of `Preprocessing` that take the place of the processor's.
    """
    settings: Mapping[str, Any] = processor.to_dict()
    blue_first = bool(settings.get("do_flip_channel_order"))
    mean, std = _normalization(settings)
    if blue_first:
        mean, std = mean[::-1], std[::-1]
    found = ImageProcessing(
        Preprocessing(**_geometry(settings, spec, stated), mean=mean, std=std), blue_first
    )
    difference = _difference(processor, found, 3 if settings.get("do_resize") else 1)
    if difference > _TOLERANCE:
        warnings.warn(
            f"'{spec}' prepares its images in a way that is only approximated "
            f"({type(processor).__name__}): they differ by {difference:.2g} standard deviations",
            stacklevel=2,
        )
    return replace(found, preprocessing=found.preprocessing.model_copy(update=stated))


def _geometry(settings: Mapping[str, Any], spec: str, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Size, crop and stretch, from `size`, `crop_size` and `crop_pct`."""
    resized = settings.get("size") or {} if settings.get("do_resize") else {}
    cropped = settings.get("crop_size") or {} if settings.get("do_center_crop") else {}
    shorter, share = resized.get("shortest_edge"), settings.get("crop_pct")
    if shorter and share:
        if cropped:
            return _cropped(_square(cropped, spec), shorter / share)
        if shorter >= _WARPED_FROM:
            return {"size": shorter, "crop_share": 1.0, "stretch": True}
        return _cropped(shorter, shorter / share)
    if cropped:
        side = _square(cropped, spec)
        if shorter or not resized:
            return _cropped(side, shorter or side)
        return {**_cropped(side, _square(resized, spec)), "stretch": True}
    if shorter:
        return {"size": shorter, "crop_share": 1.0}
    if not resized:
        if "size" not in stated:
            raise UsageError(f"'{spec}' does not state the size of its images; give --size")
        return {"size": stated["size"], "crop_share": 1.0}
    return {"size": _square(resized, spec), "crop_share": 1.0, "stretch": True}


def _cropped(side: int, shorter: float) -> dict[str, Any]:
    return {"size": side, "crop_share": min(1.0, side / shorter)}


def _square(size: Mapping[str, int], spec: str) -> int:
    """The side of a square size, which may be stated as height and width or by an edge."""
    sides = {value for value in size.values() if value}
    if len(sides) != 1:
        stated = " × ".join(str(value) for value in size.values())
        raise UsageError(f"'{spec}' takes images of {stated} pixels, and only squares can be made")
    return sides.pop()


def _normalization(settings: Mapping[str, Any]) -> tuple[Color, Color]:
    """Mean and std such that (value / 255 - mean) / std is what the processor computes.

    It computes (value * factor - offset - mean) / std.
    """
    factor = settings.get("rescale_factor", 1 / 255) if settings.get("do_rescale") else 1.0
    offset = 1.0 if settings.get("rescale_offset") else 0.0
    mean, std = _color(0.0), _color(1.0)
    if settings.get("do_normalize"):
        mean, std = (_color(settings[key]) for key in ("image_mean", "image_std"))
        if settings.get("include_top"):  # EfficientNet divides a second time
            std = _color([value * value for value in std])
    scale = 255 * factor
    return (
        _color([(value + offset) / scale for value in mean]),
        _color([value / scale for value in std]),
    )


def _color(values: Any) -> Color:
    """One number for all channels, or one for each."""
    red, green, blue = np.broadcast_to(np.asarray(values, dtype=float), 3).tolist()
    return red, green, blue


def _difference(processor: Any, found: ImageProcessing, times: int) -> float:
    """Mean difference between the processor's output and ours, for an image some times larger."""
    side = times * found.preprocessing.size
    height, width = side, side + side // 4
    rows, columns = np.mgrid[0:height, 0:width] * (2 * np.pi / side)
    waves = [np.sin(rows + columns), np.cos(rows), np.sin(2 * columns)]
    image = (127.5 + 127.5 * np.stack(waves, axis=-1)).astype(np.uint8)
    theirs = torch.as_tensor(np.array(processor(image, return_tensors="np")["pixel_values"][0]))
    ours = ImageTransform(found.preprocessing)(image)
    ours = ours.flip(0) if found.blue_first else ours
    if theirs.shape != ours.shape:  # not a square: the longer side was not cropped
        top, left = ((theirs.shape[axis] - ours.shape[axis]) // 2 for axis in (1, 2))
        if min(top, left) < 0:
            return float("inf")
        theirs = theirs[:, top : top + ours.shape[1], left : left + ours.shape[2]]
    return float((theirs - ours).abs().mean() / theirs.std())
