"""How one named view is made: a transform sampled its parameters, then makes the view.

Drawing comes first for all views of an image, so that the image is decoded once, no finer than
the views need, and so that a view may share sampled with another.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation, Pipeline
from unshortcut.data.copies import open_beside, open_copy
from unshortcut.data.source import Image
from unshortcut.randomness import generator


@dataclass
class ViewContext:
    """One image on its way to its views: what has been drawn, what has been made."""

    image: Image
    identity: str
    """What names the image in its data set: the key to what lies beside it."""
    key: tuple[int, int, int] = (0, 0, 0)
    """(seed, epoch, index): with a view's name, the key of its sampled."""
    pipelines: Mapping[str, Pipeline] = field(default_factory=dict)
    """The augmentations of each view."""
    sampled: dict[str, Any] = field(default_factory=dict)
    """Draws of the views named so far, in the order of the plan."""
    views: dict[str, ImageArray] = field(default_factory=dict)
    """Views made so far, uint8 (h, w, 3)."""
    shrink: float = 1.0
    _pixels: dict[str | None, ImageArray] = field(default_factory=dict)
    _trails: list["_Trail"] = field(default_factory=list)

    def generator(self, view: str) -> np.random.Generator:
        """The numbers that the sampled of a view come from, from their beginning."""
        return generator(*self.key, view)

    def pixels(self, copy: str | None = None) -> ImageArray:
        """The decoded image, or its copy in another data set; each is decoded once."""
        if copy not in self._pixels:
            self._pixels[copy] = self._open(copy).pixels(self.shrink)
        return self._pixels[copy]

    def apply(self, pipeline: Pipeline, sampled: Sequence[Any]) -> ImageArray:
        """The image through a pipeline, uint8 (h, w, 3).

        What another view began with too, the same crop say, is not done again.
        """
        copy = pipeline.copy(sampled)
        steps = list(zip(pipeline.augmentations, sampled, strict=True))
        trail = _Trail(copy, [], [])
        for known in self._trails:
            begun = known.begun_alike(copy, steps)
            if begun > len(trail.steps):
                trail = _Trail(copy, known.steps[:begun], known.results[:begun])
        image = trail.results[-1] if trail.results else self.pixels(copy)
        for augmentation, params in steps[len(trail.steps) :]:
            image = augmentation.apply(image, params)
            trail.steps.append((augmentation, params))
            trail.results.append(image)
        self._trails.append(trail)
        return image

    def _open(self, copy: str | None) -> Image:
        if copy is None:
            return self.image
        return open_beside(open_copy(copy), self.identity, self.image)


@dataclass(frozen=True)
class _Trail:
    """How a view was made: the image or copy, augmentations and sampled, what each step gave."""

    copy: str | None
    steps: list[tuple[Augmentation, Any]]
    results: list[ImageArray]

    def begun_alike(self, copy: str | None, steps: Sequence[tuple[Augmentation, Any]]) -> int:
        """How many first steps are the same."""
        if copy != self.copy:
            return 0
        alike = 0
        for (known, drawn), (augmentation, params) in zip(self.steps, steps, strict=False):
            if known is not augmentation or drawn != params:
                break
            alike += 1
        return alike


class ViewTransform(ABC):
    """A frozen dataclass; a method names one for each view that it asks for."""

    has_pipeline: ClassVar[bool] = True
    """Whether the view goes through augmentations that a recipe may override."""

    @abstractmethod
    def sample(self, context: ViewContext, pipeline: Pipeline, rng: np.random.Generator) -> Any:
        """Parameters of the view; `context.sampled` holds those of the views before it."""

    @abstractmethod
    def apply(self, context: ViewContext, pipeline: Pipeline, sampled: Any) -> ImageArray:
        """The view, uint8 (h, w, 3); `context.views` holds the views before it."""

    def check(self, view: str, pipelines: Mapping[str, Pipeline]) -> None:
        """Refuse augmentations from which the view cannot be made; `pipelines` are by view."""
        return

    def metadata(
        self, context: ViewContext, pipeline: Pipeline, sampled: Any
    ) -> NDArray[np.bool_] | None:
        """(k,) answers that a method may ask for, once all views are drawn."""
        return None

    def shrink(self, pipeline: Pipeline, sampled: Any) -> float:
        """How much smaller than full size the image may be decoded for this view."""
        return 1.0

    def beside(self) -> tuple[str, ...]:
        """Copies of the data set, with images of any size, that the view may be made from."""
        return ()


ViewTransforms = Mapping[str, ViewTransform]
