"""What a view plan reads besides the images: copies of the data set, and learned filters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.augmentations.first_of import FirstOf
from unshortcut.augmentations.from_copy import FromCopy
from unshortcut.augmentations.pix2pix import GeneratorFilter
from unshortcut.data.copies import Copy, WithCopies, open_copy
from unshortcut.data.source import ImageSource
from unshortcut.translation.trained import load_generator
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transforms.textured import Textured


@dataclass(frozen=True)
class PlanCopies:
    """The copies that a plan reads, by path."""

    same_size: dict[str, Copy]
    """Copies that replace images in a pipeline, so they must have the images' size."""
    any_size: dict[str, Copy]
    filters: tuple[str, ...] = ()
    """Digests of the weights of learned filters."""

    def __len__(self) -> int:
        return len(self.same_size) + len(self.any_size)

    def fingerprints(self) -> list[str]:
        copies = (*self.same_size.values(), *self.any_size.values())
        return [*(copy.fingerprint() for copy in copies), *self.filters]

    def attach(self, source: ImageSource) -> ImageSource:
        """The source with these copies as the variants of its images."""
        return WithCopies(source, self.same_size | self.any_size) if len(self) else source


def plan_copies(plan: ViewPlan) -> PlanCopies:
    """Open what a plan reads. Raises `UsageError` for a copy or a filter that is missing."""
    pipelines = (*plan.pipelines.values(), *plan.copied_pipelines.values())
    transforms = plan.transforms.values()
    augmentations = [
        *_single(one for pipeline in pipelines for one in pipeline.augmentations),
        *_single(one for transform in transforms for one in transform.own_augmentations),
    ]
    paths = (one.path for one in augmentations if isinstance(one, FromCopy))
    textured = (t for t in transforms if isinstance(t, Textured))
    textures = (transform.copy for transform in textured if transform.copy is not None)
    weights = {one.weights for one in augmentations if isinstance(one, GeneratorFilter)}
    return PlanCopies(
        {path: open_copy(path) for path in paths},
        {path: open_copy(path) for path in textures},
        tuple(sorted(load_generator(path).digest for path in weights)),
    )


def _single(augmentations: Iterable[Augmentation]) -> Iterator[Augmentation]:
    """Augmentations, with the alternatives of `first_of` one by one."""
    for augmentation in augmentations:
        if isinstance(augmentation, FirstOf):
            yield from _single(augmentation.augmentations)
        else:
            yield augmentation
