"""Contact sheets: images and their named views, side by side."""

from collections.abc import Sequence

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from unshortcut.arrays import ImageArray
from unshortcut.data.batches import MakeViews
from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.errors import RunError
from unshortcut.randomness import generator

_GAP, _TITLE = 6, 22
_MAX_SKIPPED = 100
_BACKGROUND, _INK = (255, 255, 255), (40, 40, 40)


def view_sheet(
    source: ImageSource, plan: MakeViews, seed: int, *, num_images: int = 6, samples: int = 3
) -> PillowImage.Image:
    """One row per image: the image itself, then every view of the plan, `samples` times.

    Unreadable images are skipped; `RunError` is raised if no image can be used.
    """
    rows: list[list[ImageArray]] = []
    titles = ["image"]
    reason = BadImageError("there are no images")
    for index in generator(seed, "sheet").permutation(len(source))[: num_images + _MAX_SKIPPED]:
        try:
            titles, row = _row(source, plan, seed, int(index), samples)
            rows.append(row)
        except BadImageError as error:
            reason = error
        if len(rows) == num_images:
            break
    if not rows:
        raise RunError(f"no view can be made; the last image failed: {reason}")
    return sheet(rows, titles)


def _row(
    source: ImageSource, plan: MakeViews, seed: int, index: int, samples: int
) -> tuple[list[str], list[ImageArray]]:
    image = source.image(index)
    titles, row = ["image"], [image.pixels()]
    for epoch in range(samples):
        views = plan(image, seed, epoch, index)
        titles += list(views)
        row += list(views.values())
    return titles, row


def sheet(
    rows: Sequence[Sequence[ImageArray]],
    titles: Sequence[str],
    row_titles: Sequence[str] = (),
    *,
    side: int = 128,
) -> PillowImage.Image:
    """Rows of uint8 (h, w, 3) images, each fitted into a square, with titles above and left."""
    columns = max(len(row) for row in rows)
    font = ImageFont.load_default(14)
    margin = _GAP + max((round(font.getlength(title)) + _GAP for title in row_titles), default=0)
    width = margin + columns * (side + _GAP)
    height = _GAP + _TITLE + len(rows) * (side + _GAP)
    page = PillowImage.new("RGB", (width, height), _BACKGROUND)
    draw = ImageDraw.Draw(page)
    for column, title in enumerate(titles):
        draw.text((margin + column * (side + _GAP), _GAP), title, fill=_INK, font=font)
    for line, title in enumerate(row_titles):
        top = _GAP + _TITLE + line * (side + _GAP) + side // 2
        draw.text((_GAP, top), title, fill=_INK, font=font, anchor="lm")
    for line, row in enumerate(rows):
        for column, image in enumerate(row):
            tile = _fit(image, side)
            left = margin + column * (side + _GAP) + (side - tile.width) // 2
            top = _GAP + _TITLE + line * (side + _GAP) + (side - tile.height) // 2
            page.paste(tile, (left, top))
    return page


def _fit(image: ImageArray, side: int) -> PillowImage.Image:
    picture = PillowImage.fromarray(np.ascontiguousarray(image))
    scale = side / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    resample = PillowImage.Resampling.LANCZOS if scale < 1 else PillowImage.Resampling.NEAREST
    return picture.resize(size, resample)
