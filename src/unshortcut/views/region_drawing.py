"""Draws the boxes and the mask of one image into it."""

import colorsys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from unshortcut.arrays import FloatArray, ImageArray
from unshortcut.data.regions import IGNORED, MaskArray, Regions
from unshortcut.imaging.geometry import resize_mask_box

Color = tuple[int, int, int]
Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels of the picture, the last two excluded."""

GRAY: Color = (150, 150, 150)
"""Of what is ignored."""
_TINT = 0.45
_STRIPES = 8
_TEXT = 12
_PAD = 3
_MOST_HIDDEN = 0.5


@dataclass(frozen=True)
class ClassNames:
    """Names of the classes of boxes and of masks, in the order of their labels."""

    boxes: Sequence[str] = ()
    masks: Sequence[str] = ()

    def colors(self) -> dict[str, Color]:
        """A color for each name, so that a class of boxes has that of the class of masks."""
        names = dict.fromkeys([*self.boxes, *self.masks])
        shown = [name for name in names if not is_background(name)]
        return {name: class_color(number) for number, name in enumerate(shown)}


def is_background(name: str) -> bool:
    """Whether a class of masks is what lies behind all others; it is not tinted."""
    return name.strip("_").lower() == "background"


def class_color(number: int) -> Color:
    """Neighboring numbers get hues far apart, and lightness changes after each round of hues."""
    lightness = (0.52, 0.68, 0.38)[number // 8 % 3]
    rgb = colorsys.hls_to_rgb((0.58 + number * 0.618034) % 1, lightness, 0.85)
    return round(255 * rgb[0]), round(255 * rgb[1]), round(255 * rgb[2])


def draw_regions(
    image: ImageArray,
    regions: Regions,
    names: ClassNames,
    side: int,
    scores: FloatArray | None = None,
) -> PillowImage.Image:
    """An image uint8 (h, w, 3), fitted into side × side, with its boxes and its mask.

    Boxes have the name of their class and, if there are any, their `scores` (n,) in percent; those
    of higher scores are drawn on top. What is ignored is gray: boxes dashed, pixels striped. An
    object out of context has "(odd)" after its name.
    """
    colors = names.colors()
    picture = fit(image, side)
    if regions.mask is not None:
        tints = {label: colors[name] for label, name in enumerate(names.masks) if name in colors}
        picture = _tinted(picture, regions.mask, tints)
    if regions.boxes is None or regions.box_labels is None:
        return picture
    count = len(regions.boxes)
    ignored = np.zeros(count, np.bool_) if regions.ignored is None else regions.ignored
    height, width = image.shape[:2]
    scale = np.array([picture.width / width, picture.height / height] * 2)
    order = np.arange(count) if scores is None else np.argsort(scores, kind="stable")
    tags: list[_Tag] = []
    draw = ImageDraw.Draw(picture)
    for number in order:
        name = names.boxes[regions.box_labels[number]]
        color = GRAY if ignored[number] else colors[name]
        x0, y0, x1, y1 = np.round(regions.boxes[number] * scale).astype(int).tolist()
        box = (x0, y0, max(x1, x0 + 1), max(y1, y0 + 1))
        _outline(draw, box, color, dashed=bool(ignored[number]))
        if regions.odd is not None and regions.odd[number]:
            name += " (odd)"
        score = "" if scores is None else f"{100 * scores[number]:.0f}"
        tags.append(_Tag(box, (f"{name} {score}".strip(), score), color))
    _write_tags(draw, tags[::-1], picture.size)
    return picture


def fit(image: ImageArray, side: int) -> PillowImage.Image:
    """The image with its longer side of `side` pixels."""
    picture = PillowImage.fromarray(np.ascontiguousarray(image))
    scale = side / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    resample = PillowImage.Resampling.LANCZOS if scale < 1 else PillowImage.Resampling.BICUBIC
    return picture.resize(size, resample)


def shorten(text: str, font: ImageFont.ImageFont | ImageFont.FreeTypeFont, width: float) -> str:
    """The text, or its beginning and an ellipsis, so that it is not wider than stated."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def stripes(height: int, width: int) -> NDArray[np.bool_]:
    """(height, width): diagonal stripes, for what is ignored."""
    rows, columns = np.indices((height, width))
    return np.asarray((rows + columns) % _STRIPES < _STRIPES // 2)


def _tinted(
    picture: PillowImage.Image, mask: MaskArray, tints: Mapping[int, Color]
) -> PillowImage.Image:
    """The picture with translucent colors of classes, and a line around each region."""
    whole = (0.0, 0.0, *mask.shape)
    mask = resize_mask_box(mask, whole, picture.height, picture.width)
    pixels = np.asarray(picture, dtype=np.float32).copy()
    edges = _edges(mask)
    for label, color in tints.items():
        inside = mask == label
        pixels[inside] += _TINT * (np.array(color) - pixels[inside])
        pixels[inside & edges] = color
    ignored = mask == IGNORED
    pixels[ignored] += 0.75 * (np.array(GRAY) - pixels[ignored])
    pixels[ignored & stripes(*mask.shape)] = (205, 205, 205)
    return PillowImage.fromarray(np.round(pixels).astype(np.uint8))


def _edges(mask: MaskArray) -> NDArray[np.bool_]:
    """(h, w): pixels beside one of another class."""
    edges = np.zeros(mask.shape, np.bool_)
    down, across = mask[1:] != mask[:-1], mask[:, 1:] != mask[:, :-1]
    edges[1:] |= down
    edges[:-1] |= down
    edges[:, 1:] |= across
    edges[:, :-1] |= across
    return edges


def _outline(draw: ImageDraw.ImageDraw, box: Rectangle, color: Color, *, dashed: bool) -> None:
    """A line of two pixels inside the box, with a thin dark one inside of it for contrast."""
    x0, y0, x1, y1 = box
    if min(x1 - x0, y1 - y0) > 6:
        draw.rectangle((x0 + 2, y0 + 2, x1 - 3, y1 - 3), outline=(30, 30, 30))
    draw.rectangle((x0, y0, x1 - 1, y1 - 1), outline=color, width=2)
    if dashed:
        for x in range(x0 + 4, x1 - 2, 8):
            draw.rectangle((x, y0, min(x + 3, x1 - 1), y0 + 1), fill=(30, 30, 30))
            draw.rectangle((x, y1 - 2, min(x + 3, x1 - 1), y1 - 1), fill=(30, 30, 30))
        for y in range(y0 + 4, y1 - 2, 8):
            draw.rectangle((x0, y, x0 + 1, min(y + 3, y1 - 1)), fill=(30, 30, 30))
            draw.rectangle((x1 - 2, y, x1 - 1, min(y + 3, y1 - 1)), fill=(30, 30, 30))


@dataclass(frozen=True)
class _Tag:
    """The text of a box; of `texts`, the first for which there is room is written."""

    box: Rectangle
    texts: tuple[str, ...]
    color: Color


def _write_tags(draw: ImageDraw.ImageDraw, tags: Sequence[_Tag], size: tuple[int, int]) -> None:
    """Write tags at the boxes, the most important first; one without room is left out."""
    font = ImageFont.load_default(_TEXT)
    taken: list[Rectangle] = []
    for tag in tags:
        for text in filter(None, tag.texts):
            width = round(font.getlength(text)) + 2 * _PAD
            spots = [
                spot
                for spot in _spots(tag.box, width, _TEXT + _PAD, size)
                if not any(_common(spot, other) for other in taken)
            ]
            hidden = [max(_hidden(other.box, spot) for other in tags) for spot in spots]
            if not spots or min(hidden) > _MOST_HIDDEN:
                continue
            spot = spots[hidden.index(min(hidden))]
            taken.append(spot)
            draw.rectangle((spot[0], spot[1], spot[2] - 1, spot[3] - 1), fill=tag.color)
            middle = (spot[1] + spot[3]) / 2
            draw.text((spot[0] + _PAD, middle), text, fill=ink(tag.color), font=font, anchor="lm")
            break


def _spots(box: Rectangle, width: int, height: int, size: tuple[int, int]) -> Iterator[Rectangle]:
    """Places for a text of width × height at a box, the best first, all inside the picture."""
    x0, y0, x1, y1 = box
    for top in (y0 - height, y1, y0, y1 - height):
        for left in (x0, x1 - width):
            spot = (left, top, left + width, top + height)
            if spot[0] >= 0 and spot[1] >= 0 and spot[2] <= size[0] and spot[3] <= size[1]:
                yield spot


def _hidden(box: Rectangle, spot: Rectangle) -> float:
    """The share of a box that a text hides, in steps of a tenth, less than which is as good."""
    return 10 * _common(box, spot) // ((box[2] - box[0]) * (box[3] - box[1])) / 10


def _common(one: Rectangle, other: Rectangle) -> int:
    """The area that two rectangles share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)


def ink(color: Color) -> Color:
    """Black or white, whichever is more legible on a color (relative luminance of WCAG 2)."""
    linear = [(value / 255) ** 2.2 for value in color]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (0, 0, 0) if luminance > 0.18 else (255, 255, 255)
