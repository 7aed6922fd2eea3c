"""The view plan: all named views of one image."""

from collections.abc import Mapping, Sequence

from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.data.batches import Views
from unshortcut.data.copies import CopiedImage
from unshortcut.data.source import Image
from unshortcut.errors import UsageError, unknown
from unshortcut.views.transform import ViewContext, ViewTransforms


class ViewPlan:
    """Makes the named views of one image; the same key gives the same views to the bit.

    `transforms` are the views that a method needs, by name and in order. `augmentations` is the
    pipeline of every view, except those that have one of their own in `overrides`. Images that are
    copies of others (`CopiedImage`) have the pipeline `copied` instead, if it is given.
    """

    def __init__(
        self,
        transforms: ViewTransforms,
        augmentations: Sequence[Augmentation],
        overrides: Mapping[str, Sequence[Augmentation]] | None = None,
        copied: Sequence[Augmentation] | None = None,
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
        pipelines = self.copied_pipelines if isinstance(image, CopiedImage) else self.pipelines
        context = ViewContext(image, (seed, epoch, index), pipelines)
        for name, transform in self.transforms.items():
            params = transform.sample(context, pipelines[name], context.generator(name))
            context.sampled[name] = params
        context.shrink = min(
            transform.shrink(pipelines[name], context.sampled[name])
            for name, transform in self.transforms.items()
        )
        metadata = {}
        for name, transform in self.transforms.items():
            inputs = context, pipelines[name], context.sampled[name]
            context.views[name] = transform.apply(*inputs)
            if (about := transform.metadata(*inputs)) is not None:
                metadata[name] = about
        return Views(context.views, metadata)
