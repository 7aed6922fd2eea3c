"""Object-aware crops: which part of an image each view is made of.

The first view is a crop of an object, the second of the same object with a margin (dissertation,
section 1.3). A region takes the place of the image, so every view transform and every augmentation
works on it unchanged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.data.objects import ImageWithObjects
from unshortcut.errors import UsageError
from unshortcut.fields import Integer, NonNegativeNumber, PositiveInt, Probability
from unshortcut.imaging.object_boxes import Corners, Formula, Growth, dilate, grow, union
from unshortcut.parts import settings
from unshortcut.randomness import Rng
from unshortcut.views.regions import Region
from unshortcut.views.transform import ViewTransforms
from unshortcut.views.transforms.of_region import OfRegion, Role

Regions = Mapping[Role, Region]


@settings
class ObjectViews:
    """What the views `query` and `key` show of an object (`views.objects` of a recipe).

    All keys of a method with several are made as `key` is; of a method with a query alone, such as
    MAE, `key` and `swap` say nothing. An image without objects falls back to views of the whole
    image.
    """

    query: Literal["object", "dilated", "scene"] = "object"
    """object: the box of an object; dilated: that box with a margin; scene: the whole image."""
    key: Literal["object", "dilated", "scene"] = "dilated"
    dilation: NonNegativeNumber = 0.2
    """The margin δ of a dilated box, by `formula`."""
    formula: Formula = "box"
    """box: the margin is a share of the box's width and height; published: of its coordinates, as
    in the authors' code, so that it grows from the top left to the bottom right of an image."""
    window: Annotated[Integer, Field(ge=0)] | None = None
    """Side in pixels of the full image that smaller boxes grow to; by default that of a view."""
    growth: Growth = "centered"
    """How small boxes grow: around their center; as published with object-aware cropping, by half a
    window on both ends; or by random amounts, as published with hyperbolic learning."""
    swap: Probability = 0.5
    """Probability that query and key exchange their regions and their augmentations."""
    smallest: NonNegativeNumber = 0
    """Boxes with an area of less than `smallest`² pixels are not used."""
    most: PositiveInt = 10
    """Number of proposals of an image that are used, those with the highest scores."""

    def roles(self, transforms: ViewTransforms) -> dict[str, Role]:
        """The part of the image that each view of a plan shows, before any exchange."""
        found: dict[str, Role] = {}
        for view, transform in transforms.items():
            of = getattr(transform, "of", None)
            if isinstance(transform, OfRegion):
                found[view] = transform.role
            elif not transform.has_pipeline and of in found:
                found[view] = found[of]
            elif is_query(view):
                found[view] = self.query
            elif is_key(view):
                found[view] = self.key
            else:
                raise UsageError(
                    "views.objects is for methods that compare the views 'query' and 'key'; this "
                    f"one has a view '{view}'"
                )
        return found

    def sample(self, image: ImageWithObjects, rng: Rng) -> "SampledObject":
        """Choose an object of an image, and compute the regions of all roles."""
        height, width = image.height, image.width
        swapped = bool(rng.random() < self.swap)
        if not len(image.boxes):
            return SampledObject({}, swapped, found=False)
        chosen = image.chosen
        if chosen is None:
            chosen = int(rng.integers(len(image.boxes)))
        x0, y0, x1, y1 = (float(value) for value in image.boxes[chosen])
        box = x0, y0, x1, y1
        window = self.window or 0
        wide = dilate(box, self.dilation, self.formula, height, width)
        shown: dict[Role, Corners] = {
            "box": box,
            "object": grow(box, window, self.growth, rng, height, width),
            "dilated": grow(wide, window, self.growth, rng, height, width),
        }
        regions: dict[Role, Region] = {
            role: Region.around(corners, height, width) for role, corners in shown.items()
        }
        if len(image.boxes) > 1:
            count = int(rng.integers(2, min(len(image.boxes), LARGEST_GROUP) + 1))
            members = {chosen, *rng.permutation(len(image.boxes))[:count].tolist()}
            regions["group"] = Region.around(union(image.boxes[sorted(members)]), height, width)
        return SampledObject(regions, swapped, found=True)


LARGEST_GROUP = 5
"""Boxes of which a scene region is the union: two to five, and the object."""


@dataclass(frozen=True)
class SampledObject:
    """An object of an image, and where to look for the views of it."""

    regions: Regions
    """By role; a role that is missing is the whole image."""
    swapped: bool
    found: bool
    """Whether the image has an object."""

    def roles(self, roles: Mapping[str, Role]) -> dict[str, Role]:
        """The role of each view after the exchange of query and keys, if there is one."""
        if not self.swapped or not {"query", "key"} <= roles.keys():
            return dict(roles)
        exchanged = {roles["query"]: roles["key"], roles["key"]: roles["query"]}
        fixed = {view for view, role in roles.items() if role in ("box", "group")}
        return {
            view: role if view in fixed else exchanged.get(role, role)
            for view, role in roles.items()
        }

    def pipelines(self, pipelines: Mapping[str, Pipeline]) -> Mapping[str, Pipeline]:
        """The augmentations of each view after the exchange of query and keys, if there is one."""
        if not self.swapped or not {"query", "key"} <= pipelines.keys():
            return pipelines
        return {
            view: pipelines["key"]
            if is_query(view)
            else pipelines["query"]
            if is_key(view)
            else pipeline
            for view, pipeline in pipelines.items()
        }


def is_query(view: str) -> bool:
    return view == "query"


def is_key(view: str) -> bool:
    """Whether a view is compared with the query: MoCo has one of them, LooC one per space."""
    return view == "key" or view.startswith("key_")
