"""The view plan: all named views of one image, by key."""

from collections.abc import Mapping, Sequence

from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.data.loader import Views
from unshortcut.data.source import Image
from unshortcut.errors import UsageError, unknown
from unshortcut.views.transform import ViewContext, ViewTransforms


class ViewPlan:
    """Makes the named views of one image; the same key gives the same views to the bit.

    `transforms` is what a method asks for, by name and in order; `augmentations` is the pipeline of
    every view, except of those that `overrides` gives one of their own.
    """

    def __init__(
        self,
        transforms: ViewTransforms,
        augmentations: Sequence[Augmentation],
        overrides: Mapping[str, Sequence[Augmentation]] | None = None,
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
        for name, transform in self.transforms.items():
            transform.check(name, self.pipelines)

    def __call__(self, image: Image, identity: str, seed: int, epoch: int, index: int) -> Views:
        """Views of an image, name to uint8 (h, w, 3), in the order of the plan.

        `identity` names the image in its data set; (seed, epoch, index) is the key of all sampled.
        """
        context = ViewContext(image, identity, (seed, epoch, index), self.pipelines)
        for name, transform in self.transforms.items():
            sampled = transform.sample(context, self.pipelines[name], context.generator(name))
            context.sampled[name] = sampled
        context.shrink = min(
            transform.shrink(self.pipelines[name], context.sampled[name])
            for name, transform in self.transforms.items()
        )
        for name, transform in self.transforms.items():
            context.views[name] = transform.apply(
                context, self.pipelines[name], context.sampled[name]
            )
        metadata = {
            name: transform.metadata(context, self.pipelines[name], context.sampled[name])
            for name, transform in self.transforms.items()
        }
        return Views(
            context.views, {n: metadata for n, metadata in metadata.items() if metadata is not None}
        )

    def copies(self) -> tuple[str, ...]:
        """The copies of the data set that views may be made from, each once."""
        pipelines = self.pipelines.values()
        asked = (a.copies() for pipeline in pipelines for a in pipeline.augmentations)
        return tuple(dict.fromkeys(copy for copies in asked for copy in copies))

    def beside(self) -> tuple[str, ...]:
        """The copies of any size that single views are made from, each once."""
        asked = (transform.beside() for transform in self.transforms.values())
        return tuple(dict.fromkeys(copy for copies in asked for copy in copies))
