"""Images without a cue that is known by its boxes, and images with it, whatever their class.

A cue that is filled in where it occurs, and pasted into images of all classes alike, says nothing
of the class any more. The pixels to paste are those of the images that carry it, so nothing has to
be drawn by hand.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Place:
    """Where an image has the cue, or gets it from another image."""

    donor: int
    """Index of the image whose cue it is: the image itself, if it carries the cue."""
    boxes: tuple[Box, ...]
    """In pixels of the donor."""


def places_of(
    source: ImageSource, boxes: Mapping[str, Sequence[Box]], seed: int
) -> tuple[Place, ...]:
    """The place of each image: its own, or that of a random carrier.

    Raises `UsageError` if no image carries the cue.
    """
    own = [tuple(boxes.get(name, ())) for name in names_of(source)]
    carriers = [index for index, found in enumerate(own) if found]
    if not carriers:
        raise UsageError("no image to refit on carries the cue, so there is nothing to paste")
    places = []
    for index, found in enumerate(own):
        number = int(generator(seed, "pasted cue", index).integers(len(carriers)))
        donor = index if found else carriers[number]
        places.append(Place(donor, own[donor]))
    return tuple(places)


class EvenlyFilled(DerivedSource):
    """The images of a source without the cue, all of them filled at their places.

    Images that never had the cue are filled too, so that the traces of filling tell no class.
    """

    def __init__(self, source: ImageSource, places: Sequence[Place]) -> None:
        super().__init__(source)
        self.places = tuple(places)

    def image(self, index: int) -> ArrayImage:
        place, pixels = self.places[index], self.source.image(index).pixels()
        if place.donor == index:
            return ArrayImage(fill(pixels, place.boxes))
        donor = self.source.image(place.donor).pixels()
        return ArrayImage(fill(pixels, [scaled(box, donor, pixels) for box in place.boxes]))

    def fingerprint(self) -> str:
        return _digest(self.source, "evenly filled", self.places)


class EvenlyPasted(DerivedSource):
    """The images of a source with the cue, all of them at their places.

    Each differs from its version in `EvenlyFilled` by the cue alone.
    """

    def __init__(self, source: ImageSource, places: Sequence[Place]) -> None:
        super().__init__(source)
        self.places = tuple(places)
        self.filled = EvenlyFilled(source, places)

    def image(self, index: int) -> ArrayImage:
        place = self.places[index]
        donor, pixels = self.source.image(place.donor).pixels(), self.filled.image(index).pixels()
        for box in place.boxes:
            pixels = paste(pixels, donor, box)
        return ArrayImage(pixels)

    def fingerprint(self) -> str:
        return _digest(self.source, "evenly pasted", self.places)


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
    left, top, right, bottom = _inside(scaled((left, top, right, bottom), donor, host), host)
    resized = cv2.resize(cut, (right - left, bottom - top), interpolation=cv2.INTER_AREA)
    result = host.copy()
    result[top:bottom, left:right] = resized
    return result


def scaled(box: Box, donor: ImageArray, host: ImageArray) -> Box:
    """A box of the donor at the same place relative to the size of the host."""
    height, width = host.shape[0] / donor.shape[0], host.shape[1] / donor.shape[1]
    left, top, right, bottom = box
    return left * width, top * height, right * width, bottom * height


def _inside(box: Box, pixels: ImageArray, margin: int = 0) -> tuple[int, int, int, int]:
    """A box in whole pixels, at least one of them, clipped to the image."""
    height, width = pixels.shape[:2]
    left, top = (max(0, round(end) - margin) for end in box[:2])
    right, bottom = round(box[2]) + margin, round(box[3]) + margin
    left, top = min(left, width - 1), min(top, height - 1)
    return left, top, max(left + 1, min(right, width)), max(top + 1, min(bottom, height))


def _digest(source: ImageSource, *what: object) -> str:
    return hashlib.sha256(f"{source.fingerprint()} {what}".encode()).hexdigest()
