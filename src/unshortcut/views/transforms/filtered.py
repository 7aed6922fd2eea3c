"""A finished view after a filter: the target of a network that learns the filter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline, requested_variant
from unshortcut.errors import UsageError
from unshortcut.randomness import Rng, generator
from unshortcut.views.transform import ViewContext, ViewTransform

_TRIED_SIZE = (97, 131)
"""Of an image that no crop or resizing keeps as it is."""
_DRAWS = 32
"""Parameters that are tried, of filters that are applied at random."""


@dataclass(frozen=True)
class Filtered(ViewTransform):
    """The view `of`, a preceding view with a pipeline, after one more augmentation."""

    has_pipeline: ClassVar[bool] = False

    by: Augmentation
    of: str = "input"

    @property
    def own_augmentations(self) -> Sequence[Augmentation]:
        return (self.by,)

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> Any:
        before, size = context.pipelines[self.of], (context.image.height, context.image.width)
        return self.by.sample(rng, *before.output_size(context.sampled[self.of], *size))

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Any) -> ImageArray:
        return self.by.apply(context.views[self.of], sampled)

    def shrink(self, pipeline: Pipeline, sampled: Any) -> float:
        return math.inf  # made from another view, without decoding

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        self.by.check()
        draws = [self.by.sample(generator(number), *_TRIED_SIZE) for number in range(_DRAWS)]
        if any(
            self.by.output_size(params, *_TRIED_SIZE) != _TRIED_SIZE or requested_variant(params)
            for params in draws
        ):
            raise UsageError(
                f"the view '{view}' is the view '{self.of}' after a filter, which "
                f"'{self.by.name}' is not: it must keep the size and need no copy of the data"
            )
