"""The copies of a data set that a view plan reads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.augmentations.first_of import FirstOf
from unshortcut.augmentations.from_copy import FromCopy
from unshortcut.data.copies import Copy, WithCopies, open_copy
from unshortcut.data.source import ImageSource
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transforms.textured import Textured


@dataclass(frozen=True)
class PlanCopies:
    """The copies that a plan reads, by path."""

    same_size: dict[str, Copy]
    """Copies that replace images in a pipeline, so they must have the images' size."""
    any_size: dict[str, Copy]

    def __len__(self) -> int:
        return len(self.same_size) + len(self.any_size)

    def fingerprints(self) -> list[str]:
        return [c.fingerprint() for c in (*self.same_size.values(), *self.any_size.values())]

    def attach(self, source: ImageSource) -> ImageSource:
        """The source with these copies as the variants of its images."""
        return WithCopies(source, self.same_size | self.any_size) if len(self) else source


def plan_copies(plan: ViewPlan) -> PlanCopies:
    """Open the copies that a plan reads. Raises `UsageError` for one that is missing."""
    pipelines = (*plan.pipelines.values(), *plan.copied_pipelines.values())
    transforms = plan.transforms.values()
    augmentations = (
        *(pipeline.augmentations for pipeline in pipelines),
        *(transform.own_augmentations for transform in transforms),
    )
    paths = (path for one in augmentations for path in _paths(one))
    textured = (t for t in transforms if isinstance(t, Textured))
    textures = (transform.copy for transform in textured if transform.copy is not None)
    return PlanCopies(
        {path: open_copy(path) for path in paths}, {path: open_copy(path) for path in textures}
    )


def _paths(augmentations: Iterable[Augmentation]) -> Iterator[str]:
    for augmentation in augmentations:
        if isinstance(augmentation, FromCopy):
            yield augmentation.path
        elif isinstance(augmentation, FirstOf):
            yield from _paths(augmentation.augmentations)
