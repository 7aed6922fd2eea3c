"""Views that share sampled parameters with the query, or lack augmentations.

LooC, section 3: the key of an augmentation has the query's own parameters for it, and parameters of
its own for all others. Appendix E: for add-one the query lacks the augmentations, and each key has
one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.errors import UsageError, unknown
from unshortcut.randomness import Rng
from unshortcut.views.transform import ViewContext
from unshortcut.views.transforms.augmented import Augmented


@dataclass(frozen=True)
class Sharing(Augmented):
    """All augmentations of the pipeline; those in `shares` have the parameters of the view `of`.

    Its metadata say, for each set of augmentations in `compares`, whether all of their parameters
    equal those of `of`: always if they are shared, by chance otherwise.
    """

    of: str = "query"
    shares: tuple[str, ...] = ()
    """Names of augmentations."""
    compares: tuple[tuple[str, ...], ...] = ()

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> list[Any]:
        given = self._params_of(context, pipeline, self.shares)
        return pipeline.sample(rng, context.image.height, context.image.width, given)

    def metadata(
        self, context: ViewContext, pipeline: Pipeline, sampled: Sequence[Any]
    ) -> NDArray[np.bool_] | None:
        """(k,): for each entry of `compares`, whether the parameters are equal."""
        if not self.compares:
            return None
        there = [self._params_of(context, pipeline, names) for names in self.compares]
        return np.array([all(sampled[i] == params for i, params in one.items()) for one in there])

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        own, other = pipelines[view], pipelines[self.of]
        for name in dict.fromkeys((*self.shares, *(n for names in self.compares for n in names))):
            here, there = _named(own, name), _named(other, name)
            if not there:
                raise _absent(view, name, other)
            if here != there:
                raise UsageError(
                    f"the view '{view}' shares parameters of '{name}' with '{self.of}', so "
                    "views.overrides may not give it different settings"
                )
        self._check_sizes(view, own)

    def _check_sizes(self, view: str, pipeline: Pipeline) -> None:
        """Refuse to share a crop whose box was sampled for an image of another orientation."""
        rotation = None
        for augmentation in pipeline.augmentations:
            if augmentation.name in self.shares and rotation and hasattr(augmentation, "size"):
                raise UsageError(
                    f"the view '{view}' cannot share '{augmentation.name}', which comes after "
                    f"'{rotation}': its box is for an image rotated as the query is; put "
                    f"'{rotation}' after it, or share it too"
                )
            if hasattr(augmentation, "size"):
                rotation = None
            elif _changes_size(augmentation) and augmentation.name not in self.shares:
                rotation = augmentation.name

    def _params_of(
        self, context: ViewContext, pipeline: Pipeline, names: Sequence[str]
    ) -> dict[int, Any]:
        """Parameters of `of` for augmentations of these names, by their index in our pipeline."""
        other = context.pipelines[self.of]
        return {
            here: context.sampled[self.of][there]
            for name in names
            for here, there in zip(pipeline.indices(name), other.indices(name), strict=True)
        }


@dataclass(frozen=True)
class Lacking(Augmented):
    """All augmentations of the pipeline except those in `lacks`."""

    lacks: tuple[str, ...] = ()
    """Names of augmentations."""

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> list[Any]:
        given = {index: None for name in self.lacks for index in pipeline.indices(name)}
        return pipeline.sample(rng, context.image.height, context.image.width, given)

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        for name in self.lacks:
            named = _named(pipelines[view], name)
            if not named:
                raise _absent(view, name, pipelines[view])
            if not all(map(_can_be_left_out, named)):
                raise UsageError(
                    f"the view '{view}' cannot leave out '{name}': views without it would have "
                    "another size, or it cannot leave an image as it is"
                )


def _named(pipeline: Pipeline, name: str) -> list[Augmentation]:
    return [pipeline.augmentations[index] for index in pipeline.indices(name)]


def _absent(view: str, name: str, pipeline: Pipeline) -> UsageError:
    known = [augmentation.name for augmentation in pipeline.augmentations]
    return unknown(f"augmentation for the view '{view}'", name, known)


def _changes_size(augmentation: Augmentation) -> bool:
    """Whether the size of its result depends on the sampled parameters."""
    return type(augmentation).output_size is not Augmentation.output_size


def _can_be_left_out(augmentation: Augmentation) -> bool:
    """Whether it returns an image unchanged when its parameters are None."""
    image = np.zeros((8, 8, 3), np.uint8)
    try:
        return augmentation.apply(image, None) is image
    except (TypeError, AttributeError, ValueError):
        return False
