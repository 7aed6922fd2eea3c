"""A finished view after a filter: the target of a network that learns the filter."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.augmentations.from_copy import FromCopy
from unshortcut.errors import UsageError
from unshortcut.randomness import Rng
from unshortcut.views.transform import ViewContext, ViewTransform


@dataclass(frozen=True)
class Filtered(ViewTransform):
    """The view `of`, a preceding view with a pipeline, after one more augmentation."""

    has_pipeline: ClassVar[bool] = False

    by: Augmentation
    of: str = "input"

    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> Any:
        size = context.image.height, context.image.width
        steps = zip(context.pipelines[self.of].augmentations, context.sampled[self.of], strict=True)
        for augmentation, params in steps:
            size = augmentation.output_size(params, *size)
        return self.by.sample(rng, *size)

    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Any) -> ImageArray:
        return self.by.apply(context.views[self.of], sampled)

    def shrink(self, pipeline: Pipeline, sampled: Any) -> float:
        return math.inf  # made from another view, without decoding

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        self.by.check()
        changes_size = type(self.by).output_size is not Augmentation.output_size
        if changes_size or isinstance(self.by, FromCopy):
            raise UsageError(
                f"the view '{view}' is the view '{self.of}' after a filter, which "
                f"'{self.by.name}' is not: it must keep the size and need no copy of the data"
            )
