"""Images without a cue that is known by its boxes, and images with it, whatever their class.

A cue that is filled in where it occurs, and pasted into images of all classes alike, says nothing
of the class any more. The pixels to paste are those of the images that carry it, so nothing has to
be drawn by hand.
"""

import hashlib
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.data.source import ArrayImage, BadImageError, DerivedSource, ImageSource
from unshortcut.errors import UsageError
from unshortcut.fixing.cues import Box, names_of
from unshortcut.randomness import generator

_RADIUS = 0.05
"""Reach of the filling, as a share of the shorter side of the image."""
_MARGIN = 1
"""Pixels around a box that are filled too, because a cue may be blurred by its compression."""


class WithoutCue(DerivedSource):
    """The images of a source with their cues filled from the surroundings (Telea 2004)."""

    def __init__(self, source: ImageSource, boxes: Mapping[str, Sequence[Box]]) -> None:
        super().__init__(source)
        self.boxes = {name: tuple(found) for name, found in boxes.items()}

    def image(self, index: int) -> ArrayImage:
        pixels = self.source.image(index).pixels()
        return ArrayImage(fill(pixels, self.boxes.get(self.identity(index), ())))

    def fingerprint(self) -> str:
        return _digest(self.source, "without", sorted(self.boxes.items()))


class WithCue(DerivedSource):
    """The images of a source, each with the cue of another image at its place in that image."""

    def __init__(self, source: ImageSource, boxes: Mapping[str, Sequence[Box]], seed: int) -> None:
        super().__init__(source)
        self.clean = WithoutCue(source, boxes)
        self.seed = seed
        self.donors = [
            (index, box)
            for index, name in enumerate(names_of(source))
            for box in boxes.get(name, ())
        ]
        if not self.donors:
            raise UsageError("no image to refit on carries the cue, so there is nothing to paste")

    def image(self, index: int) -> ArrayImage:
        number = int(generator(self.seed, "pasted cue", index).integers(len(self.donors)))
        donor, box = self.donors[number]
        return ArrayImage(
            paste(self.clean.image(index).pixels(), self.source.image(donor).pixels(), box)
        )

    def fingerprint(self) -> str:
        return _digest(self.clean, "with", self.seed)


def fill(pixels: ImageArray, boxes: Sequence[Box]) -> ImageArray:
    """An image (h, w, 3) with boxes filled from their surroundings."""
    if not boxes:
        return pixels
    hidden: NDArray[np.uint8] = np.zeros(pixels.shape[:2], dtype=np.uint8)
    for box in boxes:
        left, top, right, bottom = _inside(box, pixels, margin=_MARGIN)
        hidden[top:bottom, left:right] = 1
    if hidden.all():
        raise BadImageError("its cue covers all of it")
    reach = max(3.0, _RADIUS * min(hidden.shape))
    return np.asarray(cv2.inpaint(pixels, hidden, reach, cv2.INPAINT_TELEA), dtype=np.uint8)


def paste(host: ImageArray, donor: ImageArray, box: Box) -> ImageArray:
    """The host with a box of the donor at the same place relative to the size of the image."""
    left, top, right, bottom = _inside(box, donor)
    cut = donor[top:bottom, left:right]
    height, width = host.shape[0] / donor.shape[0], host.shape[1] / donor.shape[1]
    there = _inside((left * width, top * height, right * width, bottom * height), host)
    left, top, right, bottom = there
    scaled = cv2.resize(cut, (right - left, bottom - top), interpolation=cv2.INTER_AREA)
    result = host.copy()
    result[top:bottom, left:right] = scaled
    return result


def _inside(box: Box, pixels: ImageArray, margin: int = 0) -> tuple[int, int, int, int]:
    """A box in whole pixels, at least one of them, clipped to the image."""
    height, width = pixels.shape[:2]
    left, top = (max(0, round(end) - margin) for end in box[:2])
    right, bottom = round(box[2]) + margin, round(box[3]) + margin
    left, top = min(left, width - 1), min(top, height - 1)
    return left, top, max(left + 1, min(right, width)), max(top + 1, min(bottom, height))


def _digest(source: ImageSource, *what: object) -> str:
    return hashlib.sha256(f"{source.fingerprint()} {what}".encode()).hexdigest()
