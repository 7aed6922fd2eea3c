"""How one named view is made: a transform samples parameters, then applies them.

Parameters are sampled for all views of an image first, so that the image is decoded once, at the
lowest resolution that the views allow, and so that a view may share parameters with another.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline, requested_variant
from unshortcut.data.source import Image, ImageWithVariants, require_same_size
from unshortcut.errors import UsageError
from unshortcut.randomness import Rng, generator


@dataclass
class ViewContext:
    """One image, with the parameters sampled and the views made so far."""

    image: Image
    key: tuple[int, int, int] = (0, 0, 0)
    """(seed, epoch, index); together with a view's name, the key of its sampled parameters."""
    pipelines: Mapping[str, Pipeline] = field(default_factory=dict)
    """The augmentations of each view."""
    sampled: dict[str, Any] = field(default_factory=dict)
    """Parameters sampled so far, by view, in the order of the plan."""
    views: dict[str, ImageArray] = field(default_factory=dict)
    """Views made so far, uint8 (h, w, 3)."""
    shrink: float = 1.0
    _pixels: dict[str | None, ImageArray] = field(default_factory=dict)
    _traces: list["_Trace"] = field(default_factory=list)

    def with_image(self, image: Image) -> "ViewContext":
        """The context of views of another image, such as a region; parameters and views are shared.

        Pixels and finished steps are its own.
        """
        return replace(self, image=image, _pixels={}, _traces=[])

    def generator(self, view: str) -> Rng:
        """A new generator for the parameters of a view; it always starts from the beginning."""
        return generator(*self.key, view)

    def variant(self, name: str) -> Image:
        """A variant of the image, of any size. Raises `BadImageError`."""
        if not isinstance(self.image, ImageWithVariants):
            raise UsageError(
                f"a view is made from the copy '{name}', but these images have no copies; attach "
                "them with `unshortcut.training.plan_copies.plan_copies(plan).attach(source)`"
            )
        return self.image.variant(name)

    def pixels(self, variant: str | None = None) -> ImageArray:
        """The decoded image, or a variant of the same size; each is decoded once."""
        if variant not in self._pixels:
            image = self.image
            if variant is not None:
                image = self.variant(variant)
                require_same_size(image, self.image)
            self._pixels[variant] = image.pixels(self.shrink)
        return self._pixels[variant]

    def apply(
        self, pipeline: Pipeline, sampled: Sequence[Any], variant: str | None = None
    ) -> ImageArray:
        """The image, or a variant of it, after a pipeline, uint8 (h, w, 3).

        The variant is by default the one that the parameters request. Steps that another view has
        begun with as well, such as the same crop, are not repeated.
        """
        variant = variant or requested_variant(list(sampled))
        steps = list(zip(pipeline.augmentations, sampled, strict=True))
        trace = _Trace(variant, [], [])
        for known in self._traces:
            shared = known.shared_steps(variant, steps)
            if shared > len(trace.steps):
                trace = _Trace(variant, known.steps[:shared], known.results[:shared])
        image = trace.results[-1] if trace.results else self.pixels(variant)
        for augmentation, params in steps[len(trace.steps) :]:
            image = augmentation.apply(image, params)
            trace.steps.append((augmentation, params))
            trace.results.append(image)
        self._traces.append(trace)
        return image


@dataclass(frozen=True)
class _Trace:
    """How a view was made: its steps (augmentation and parameters) and the result of each."""

    variant: str | None
    steps: list[tuple[Augmentation, Any]]
    results: list[ImageArray]

    def shared_steps(self, variant: str | None, steps: Sequence[tuple[Augmentation, Any]]) -> int:
        """How many steps at the beginning are the same."""
        pairs = zip(self.steps, steps, strict=False) if variant == self.variant else ()
        same = (a is b and known == params for (a, known), (b, params) in pairs)
        return sum(takewhile(bool, same))


class ViewTransform(ABC):
    """A frozen dataclass that makes one view; a method has one for each view that it needs."""

    has_pipeline: ClassVar[bool] = True
    """Whether the view goes through augmentations that a recipe may override."""

    @property
    def own_augmentations(self) -> Sequence[Augmentation]:
        """Augmentations that belong to the transform itself and not to a pipeline of the plan."""
        return ()

    @abstractmethod
    def sample(self, context: ViewContext, pipeline: Pipeline, rng: Rng) -> Any:
        """Sample parameters; `context.sampled` holds those of the preceding views."""

    @abstractmethod
    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Any) -> ImageArray:
        """The view, uint8 (h, w, 3); `context.views` holds the preceding views."""

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        """Raise `UsageError` for augmentations that the view cannot use; `pipelines` by view."""
        return

    def metadata(
        self, context: ViewContext, pipeline: Pipeline, sampled: Any
    ) -> NDArray[np.bool_] | None:
        """(k,) booleans about the view for the method, once all parameters are sampled."""
        return None

    def shrink(self, pipeline: Pipeline, sampled: Any) -> float:
        """How many times smaller than the full image the image may be decoded for this view."""
        return 1.0


ViewTransforms = Mapping[str, ViewTransform]
