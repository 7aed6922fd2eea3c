"""A view of a certain part of an image, for methods that compare objects with their scenes."""

from dataclasses import dataclass
from typing import Literal

from unshortcut.views.transforms.augmented import Augmented

Role = Literal["box", "object", "dilated", "group", "scene"]
"""box: the box of an object as it is; object: grown to a window if it is small; dilated: with a
margin, and grown; group: the union of two to five boxes and the object; scene: the whole image."""


@dataclass(frozen=True)
class OfRegion(Augmented):
    """The view's pipeline on a part of the image, whatever `views.objects` says of other views."""

    role: Role = "object"
