"""Patches searched in images: from one example of a cue to all images that carry it."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from unshortcut.arrays import ImageArray
from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.imaging.template import Match, Template, best_match, steady_part
from unshortcut.inference.features import view_reader
from unshortcut.inference.reading import available_workers
from unshortcut.measuring.linear_head import Doubles
from unshortcut.views.evaluation import EvaluationView

SIDE = 96
"""Images are searched at this side at most; a cue that a network goes by is still visible."""
SHOWN_SIDE = 112
"""Least side of an image that is shown with a frame."""
EXAMPLES = (12, 24, 48)
"""Numbers of best matches in the class of a patch, from which its steady part is learned: few for
a rare cue, many for a frequent one, whose best matches also share what is around it."""
ROUNDS = 2
"""The steady part is searched again, because it finds better examples than the whole patch."""
FLOOR, CEILING = 0.5, 0.95
"""Limits of the threshold on correlations."""
_TAIL = 5.0
"""Robust standard deviations above the median correlation of other classes that a carrier has."""


@dataclass(frozen=True)
class SearchedImages:
    """The images of a source as a model sees them, at the side at which they are searched."""

    source: ImageSource
    view: EvaluationView

    @property
    def side(self) -> int:
        return min(SIDE, self.view.size)

    def __len__(self) -> int:
        return len(self.source)

    def pixels(self, index: int) -> ImageArray | None:
        """(side, side, 3); None for an image that cannot be read."""
        try:
            seen = view_reader(self.source, self.view)(index)
        except BadImageError:
            return None
        if len(seen) == self.side:
            return seen
        small = cv2.resize(seen, (self.side, self.side), interpolation=cv2.INTER_AREA)
        return np.asarray(small, dtype=np.uint8)

    def framed(self, index: int, box: tuple[float, float, float, float]) -> ImageArray | None:
        """The searched image with a frame around a box; a small image is enlarged for it."""
        pixels = self.pixels(index)
        if pixels is None:
            return None
        times = math.ceil(SHOWN_SIDE / len(pixels))
        large = cv2.resize(pixels, None, fx=times, fy=times, interpolation=cv2.INTER_NEAREST)
        left, top, right, bottom = (round(times * end) for end in box)
        corners = (left - 2, top - 2), (right + 1, bottom + 1)
        framed = cv2.rectangle(large.copy(), *corners, color=(255, 80, 0), thickness=3)
        return np.asarray(framed, dtype=np.uint8)

    def full_box(
        self, index: int, box: tuple[float, float, float, float]
    ) -> tuple[float, float, float, float]:
        """A box (x0, y0, x1, y1) of the searched image in pixels of the full image."""
        image = self.source.image(index)
        shorter = round(self.view.size / self.view.crop_share)
        scale = shorter / min(image.height, image.width)
        to_view = self.view.size / self.side
        left = (image.width * scale - self.view.size) / 2
        top = (image.height * scale - self.view.size) / 2
        offsets, ends = (left, top, left, top), (image.width, image.height) * 2
        found = [
            float(np.clip((end * to_view + offset) / scale, 0, most))
            for end, offset, most in zip(box, offsets, ends, strict=True)
        ]
        return found[0], found[1], found[2], found[3]


def learn_template(
    patch: Template, images: Sequence[ImageArray], others: Sequence[ImageArray]
) -> Template:
    """The steady part of a patch that most images of its class have; of equal ones the smallest.

    Args:
        images: other images of its class, from whose best matches the steady part is learned.
        others: images of other classes, which say how well a template matches by chance.
    """
    counts = sorted({min(count, len(images)) for count in EXAMPLES})
    found = [_learned(patch, images, count) for count in counts]

    def carriers(template: Template) -> int:
        scores = [best_match(image, template).score for image in others]
        bound = threshold(np.array(scores))
        return sum(best_match(image, template).score >= bound for image in images)

    return max(found, key=lambda template: (carriers(template), -template.mask.sum()))


def _learned(patch: Template, images: Sequence[ImageArray], examples: int) -> Template:
    """The steady part of a patch in its best matches."""
    template = patch
    height, width = patch.mask.shape
    for _ in range(ROUNDS):
        matches = [(best_match(image, template), image) for image in images]
        matches.sort(key=lambda pair: -pair[0].score)
        cuts = [
            _cut(image, match, height, width)
            for match, image in matches[:examples]
            if match.score > 0
        ]
        if len(cuts) < 3:
            return template
        template = steady_part(Template.of(patch.pixels), cuts)
    return template


def threshold(scores: Doubles) -> float:
    """The correlation from which an image carries a cue, given those of other classes (N,).

    Median and median deviation are not moved by a few images of other classes that carry it too.
    """
    if not len(scores):
        return CEILING
    middle = float(np.median(scores))
    spread = 1.4826 * float(np.median(np.abs(scores - middle)))
    return float(np.clip(middle + _TAIL * spread, FLOOR, CEILING))


def search(
    images: SearchedImages, templates: Sequence[Template], workers: int | None = None
) -> Iterator[tuple[int, list[Match] | None]]:
    """The best match of each template in each image, in order; None for an unreadable image."""

    def matches(index: int) -> list[Match] | None:
        pixels = images.pixels(index)
        return None if pixels is None else [best_match(pixels, one) for one in templates]

    with ThreadPoolExecutor(workers or available_workers()) as pool:
        yield from enumerate(pool.map(matches, range(len(images))))


def inside(template: Template, match: Match) -> tuple[float, float, float, float]:
    """The box of the pixels that count, where a template was found."""
    left, top, right, bottom = (end * match.scale for end in template.extent())
    x, y = match.box[:2]
    return x + left, y + top, x + right, y + bottom


def _cut(image: ImageArray, match: Match, height: int, width: int) -> ImageArray:
    left, top, right, bottom = match.box
    cut = image[top:bottom, left:right]
    if cut.shape[:2] == (height, width):
        return cut
    resized = cv2.resize(cut, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(resized, dtype=np.uint8)
