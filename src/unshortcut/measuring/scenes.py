"""Objects and scenes of annotated images, and the features that a model has for them.

An object is its box, as it is. A scene is the smallest rectangle around all annotated objects of an
image, as hyperbolic learning defines it, so that margins of the image make no difference. Both are
resized whole to the input size of the model, without a crop.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import FloatArray
from unshortcut.data.source import BadImageError, ImageSource
from unshortcut.imaging.object_boxes import Corners, union
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.settings import Limit
from unshortcut.measuring.subjects.images import Prepared
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator
from unshortcut.views.cutouts import Cutouts

MAX_SCENES = Limit(quick=40, standard=1000)
"""A scene costs as many passes as it has objects, and one more."""
NO_BOXES = "the data have no boxes of objects"


@dataclass(frozen=True)
class BoxedImage:
    """The annotated objects of one image; there is at least one."""

    index: int
    """Position in the data."""
    boxes: FloatArray
    """(n, 4)"""
    odd: NDArray[np.bool_] | None
    """(n,): objects out of context; None if the data do not say."""

    @property
    def scene(self) -> Corners:
        """The smallest rectangle around all objects."""
        return union(self.boxes)

    @property
    def objects(self) -> list[Corners]:
        """The box of each object."""
        return [union(box[None]) for box in self.boxes]


def most_scenes(subject: Subject) -> int | None:
    """How many images a measurement of scenes looks at, at most."""
    settings = subject.settings
    limits = (settings.most_images, settings.at_most(MAX_SCENES))
    return min((one for one in limits if one is not None), default=None)


def boxed_images(source: ImageSource, most: int | None, seed: int) -> list[BoxedImage]:
    """The images with annotated objects among at most `most`, chosen at random.

    Boxes that are ignored are left out. Raises `NotApplicable` if there are none.
    """
    if source.box_classes is None:
        raise NotApplicable(NO_BOXES)
    chosen = generator(seed, "scenes").permutation(len(source))[:most]
    found = []
    for index in np.sort(chosen).tolist():
        with suppress(BadImageError):  # reported when the image is to be decoded
            regions = source.regions(index).trained_on()
            if regions.boxes is not None and len(regions.boxes):
                found.append(BoxedImage(index, regions.boxes, regions.odd))
    if not found:
        raise NotApplicable(NO_BOXES)
    return found


@dataclass(frozen=True)
class CutoutFeatures:
    """Features of the cutouts that could be read."""

    cutouts: Prepared
    values: NDArray[np.float32]
    """(m, D)"""

    @property
    def rows(self) -> NDArray[np.int64]:
        """(m,): which of the requested cutouts these are, in ascending order."""
        return self.cutouts.indices

    def identity(self, position: int) -> str:
        """The name of the image that a cutout is a part of."""
        source = self.cutouts.source
        assert isinstance(source, Cutouts)
        return source.source.identity(source.images[int(self.rows[position])])

    def at(self, row: int) -> int | None:
        """The position of a requested cutout, None if it could not be read."""
        position = int(np.searchsorted(self.rows, row))
        return position if position < len(self.rows) and self.rows[position] == row else None


def cutout_features(
    subject: Subject, images: Sequence[int], boxes: Sequence[Corners], on_progress: OnProgress
) -> CutoutFeatures:
    """Features of parts of the images of a subject."""
    # Their number is decided by the caller: an image goes with all of its objects.
    everything = replace(
        subject, settings=replace(subject.settings, profile="full"), classifier=None
    )
    prepared = everything.prepare(Cutouts(subject.data, images, boxes), whole=True)
    return CutoutFeatures(prepared, everything.features(prepared, on_progress=on_progress))
