"""Contact sheets of annotated images: labels, boxes and masks, with predictions beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.data.regions import IGNORED, Regions
from unshortcut.data.source import Annotated, BadImageError, ImageSource
from unshortcut.errors import RunError
from unshortcut.randomness import generator
from unshortcut.views.region_drawing import (
    GRAY,
    ClassNames,
    Color,
    draw_regions,
    shorten,
    stripes,
)

_GAP, _GROUP_GAP, _LINE, _SWATCH = 6, 18, 20, 14
_TILES = 4
_MAX_SKIPPED = 100
_BACKGROUND, _INK, _SOFT = (255, 255, 255), (40, 40, 40), (110, 110, 110)


@dataclass(frozen=True)
class SampledImage:
    """An image of a source, to be drawn."""

    index: int
    pixels: ImageArray
    regions: Regions
    caption: str
    """The class, the classes or the name of the image."""


def data_sheet(source: ImageSource, seed: int = 0, *, num_images: int = 8) -> PillowImage.Image:
    """Random images of a source with what is annotated in them."""
    sampled = sample_images(source, seed, num_images)
    return region_sheet(
        [one.pixels for one in sampled],
        [one.regions for one in sampled],
        class_names(source),
        captions=[one.caption for one in sampled],
    )


def class_names(source: ImageSource) -> ClassNames:
    """The names of the classes of a source's boxes and masks."""
    return ClassNames(source.box_classes or (), source.mask_classes or ())


def sample_images(source: ImageSource, seed: int, num_images: int) -> list[SampledImage]:
    """Random images of a source; the same seed gives the same ones.

    Unreadable images are skipped; `RunError` is raised if no image can be used.
    """
    sampled: list[SampledImage] = []
    annotated = Annotated(source)
    reason = BadImageError("there are no images")
    for index in generator(seed, "sheet").permutation(len(source))[: num_images + _MAX_SKIPPED]:
        try:
            image = annotated.image(int(index))
            caption = _caption(source, int(index))
            sampled.append(SampledImage(int(index), image.pixels(), image.regions, caption))
        except BadImageError as error:
            reason = error
        if len(sampled) == num_images:
            break
    if not sampled:
        raise RunError(f"no image can be drawn; the last one failed: {reason}")
    return sampled


def region_sheet(
    images: Sequence[ImageArray],
    regions: Sequence[Regions],
    names: ClassNames,
    *,
    predictions: Sequence[Regions] | None = None,
    scores: Sequence[FloatArray | None] | None = None,
    captions: Sequence[str] = (),
    side: int = 256,
) -> PillowImage.Image:
    """Images uint8 (h, w, 3) with their regions, and a legend of the classes that are seen.

    With `predictions`, every image is drawn twice, as it is annotated and as it is predicted;
    `scores` are those of the predicted boxes, (n,) per image.
    """
    groups = [[draw_regions(*one, names, side)] for one in zip(images, regions, strict=True)]
    if predictions is not None:
        found = scores if scores is not None else [None] * len(images)
        for group, image, one, score in zip(groups, images, predictions, found, strict=True):
            group.append(draw_regions(image, one, names, side, score))
    entries = _seen([*regions, *(predictions or ())], names)
    titles = () if predictions is None else ("annotated", "predicted")
    return _page(groups, titles, captions, entries, side)


def _caption(source: ImageSource, index: int) -> str:
    """The class, the classes that an image shows, or its name where boxes or masks have those."""
    if source.box_classes or source.mask_classes:
        return source.identity(index)
    if source.multilabels is not None:
        row = source.multilabels.values[index]
        shown = [source.multilabels.classes[label] for label in np.flatnonzero(row == 1)]
        return ", ".join(shown) or "none of the classes"
    if source.labels is not None and source.classes is not None and source.labels[index] >= 0:
        return source.classes[source.labels[index]]
    return source.identity(index)


def _seen(drawn: Sequence[Regions], names: ClassNames) -> list[tuple[str, Color | None]]:
    """Names and colors of the classes in regions, in their order; None is what is ignored."""
    seen: set[str] = set()
    some_ignored = False
    for regions in drawn:
        if regions.mask is not None:
            labels = np.unique(regions.mask)
            some_ignored |= IGNORED in labels
            seen |= {names.masks[label] for label in labels if label != IGNORED}
        if regions.box_labels is not None:
            ignored = regions.ignored
            kept = np.ones(len(regions.box_labels), np.bool_) if ignored is None else ~ignored
            some_ignored |= not kept.all()
            seen |= {names.boxes[label] for label in regions.box_labels[kept]}
    colors = names.colors()
    entries: list[tuple[str, Color | None]] = [
        (name, color) for name, color in colors.items() if name in seen
    ]
    return [*entries, ("ignored", None)] if some_ignored else entries


def _page(
    groups: Sequence[Sequence[PillowImage.Image]],
    titles: Sequence[str],
    captions: Sequence[str],
    entries: Sequence[tuple[str, Color | None]],
    side: int,
) -> PillowImage.Image:
    """Groups of pictures in rows, with captions below them and the legend at the bottom."""
    font, small = ImageFont.load_default(14), ImageFont.load_default(12)
    pictures = len(groups[0])
    columns = min(len(groups), max(1, _TILES // pictures))
    group_width = pictures * side + (pictures - 1) * _GAP
    width = 2 * _GAP + columns * group_width + (columns - 1) * _group_gap(pictures)
    rows = [groups[first : first + columns] for first in range(0, len(groups), columns)]
    heights = [max(picture.height for group in row for picture in group) for row in rows]
    below = _LINE if captions else 0
    legend = _legend(entries, width)
    height = _GAP + (_LINE if titles else 0) + sum(heights) + len(rows) * (below + _GAP)
    page = PillowImage.new("RGB", (width, height + legend.height), _BACKGROUND)
    draw = ImageDraw.Draw(page)
    top = _GAP
    for column in range(columns if titles else 0):
        for number, title in enumerate(titles):
            left = _GAP + column * (group_width + _group_gap(pictures)) + number * (side + _GAP)
            draw.text((left, top), title, fill=_INK, font=font)
    top += _LINE if titles else 0
    for line, (row, row_height) in enumerate(zip(rows, heights, strict=True)):
        for column, group in enumerate(row):
            start = _GAP + column * (group_width + _group_gap(pictures))
            for number, picture in enumerate(group):
                left = start + number * (side + _GAP)
                page.paste(picture, (left, top + row_height - picture.height))
            if captions:
                text = shorten(captions[line * columns + column], small, group_width)
                draw.text((start, top + row_height + 3), text, fill=_SOFT, font=small)
        top += row_height + below + _GAP
    page.paste(legend, (0, height))
    return page


def _group_gap(pictures: int) -> int:
    return _GAP if pictures == 1 else _GROUP_GAP


def _legend(entries: Sequence[tuple[str, Color | None]], width: int) -> PillowImage.Image:
    """Swatches with names, in as many lines as they need."""
    font = ImageFont.load_default(13)
    placed: list[tuple[int, int, str, Color | None]] = []
    left, top = _GAP, 0
    for full_name, color in entries:
        name = shorten(full_name, font, width - 4 * _GAP - _SWATCH)
        needed = _SWATCH + 5 + round(font.getlength(name)) + 14
        if left > _GAP and left + needed > width:
            left, top = _GAP, top + _LINE
        placed.append((left, top, name, color))
        left += needed
    page = PillowImage.new("RGB", (width, top + _LINE + _GAP if placed else 0), _BACKGROUND)
    draw = ImageDraw.Draw(page)
    for left, top, name, color in placed:
        page.paste(_swatch(color), (left, top + 3))
        draw.text((left + _SWATCH + 5, top + 10), name, fill=_INK, font=font, anchor="lm")
    return page


def _swatch(color: Color | None) -> PillowImage.Image:
    if color is not None:
        return PillowImage.new("RGB", (_SWATCH, _SWATCH), color)
    striped = np.where(stripes(_SWATCH, _SWATCH)[..., None], 205, GRAY).astype(np.uint8)
    return PillowImage.fromarray(striped)
