"""The view plan: all named views of one image."""

from collections.abc import Mapping, Sequence

import numpy as np

from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.data.batches import Views
from unshortcut.data.copies import CopiedImage
from unshortcut.data.objects import NO_BOXES, ImageWithObjects
from unshortcut.data.source import Image
from unshortcut.errors import UsageError, unknown
from unshortcut.views.objects import ObjectViews
from unshortcut.views.regions import RegionImage
from unshortcut.views.transform import ViewContext, ViewTransforms
from unshortcut.views.transforms.of_region import OfRegion, Role

OBJECTS = "objects"
"""The metadata of views of objects: (1,) bool, whether the image has an object."""


class ViewPlan:
    """Makes the named views of one image; the same key gives the same views to the bit.

    `transforms` are the views that a method needs, by name and in order. `augmentations` is the
    pipeline of every view, except those that have one of their own in `overrides`. Images that are
    copies of others (`CopiedImage`) have the pipeline `copied` instead, if it is given. With
    `objects`, views are made of regions of images that come with boxes (`ImageWithObjects`).
    """

    def __init__(
        self,
        transforms: ViewTransforms,
        augmentations: Sequence[Augmentation],
        overrides: Mapping[str, Sequence[Augmentation]] | None = None,
        copied: Sequence[Augmentation] | None = None,
        objects: ObjectViews | None = None,
    ) -> None:
        overrides = overrides or {}
        for name in overrides:
            if name not in transforms:
                raise unknown("view in views.overrides", name, transforms)
            if not transforms[name].has_pipeline:
                raise UsageError(
                    f"views.overrides: '{name}' has no augmentations of its own to override"
                )
        self.transforms = dict(transforms)
        self.objects = objects
        self.roles: dict[str, Role] = {} if objects is None else objects.roles(transforms)
        for name, transform in transforms.items():
            if objects is None and isinstance(transform, OfRegion):
                raise UsageError(
                    f"the view '{name}' shows a region of an image: set views.objects, which says "
                    "how regions are made; {} for its defaults"
                )
        self.pipelines = {
            name: Pipeline(overrides.get(name, augmentations)) for name in self.transforms
        }
        self.copied_pipelines = self.pipelines
        if copied is not None:
            self.copied_pipelines = {
                name: Pipeline(overrides.get(name, copied)) for name in self.transforms
            }
        for name, transform in self.transforms.items():
            transform.check(name, self.pipelines)
            transform.check(name, self.copied_pipelines)

    def __call__(self, image: Image, seed: int, epoch: int, index: int) -> Views:
        """Views of an image, name to uint8 (h, w, 3), in the order of the plan.

        (seed, epoch, index) is the key of all sampled parameters.
        """
        base = image.image if isinstance(image, ImageWithObjects) else image
        copied = isinstance(base, CopiedImage)
        pipelines: Mapping[str, Pipeline] = self.copied_pipelines if copied else self.pipelines
        whole = ViewContext(base, (seed, epoch, index), pipelines)
        metadata = {}
        contexts = dict.fromkeys(self.transforms, whole)
        if self.objects is not None:
            with_boxes = image if isinstance(image, ImageWithObjects) else _without_boxes(image)
            sampled = self.objects.sample(with_boxes, whole.generator(OBJECTS))
            whole.pipelines = pipelines = sampled.pipelines(pipelines)
            parts = {
                role: whole.with_image(RegionImage(whole, region))
                for role, region in sampled.regions.items()
            }
            roles = sampled.roles(self.roles)
            contexts = {name: parts.get(role, whole) for name, role in roles.items()}
            metadata[OBJECTS] = np.array([sampled.found])
        for name, transform in self.transforms.items():
            context = contexts[name]
            params = transform.sample(context, pipelines[name], context.generator(name))
            context.sampled[name] = params
        shrink = min(
            transform.shrink(pipelines[name], whole.sampled[name])
            for name, transform in self.transforms.items()
        )
        for context in (whole, *contexts.values()):
            context.shrink = shrink
        for name, transform in self.transforms.items():
            inputs = contexts[name], pipelines[name], whole.sampled[name]
            whole.views[name] = transform.apply(*inputs)
            if (about := transform.metadata(*inputs)) is not None:
                metadata[name] = about
        return Views(whole.views, metadata)


def _without_boxes(image: Image) -> ImageWithObjects:
    return ImageWithObjects(image, NO_BOXES)
