"""Views that several losses of a step compare with, each encoded only once."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from torch import Tensor

E = TypeVar("E")


class EncodedViews(Generic[E]):
    """Embeddings of views by a function of their images (N, 3, H, W)."""

    def __init__(self, encode: Callable[[Tensor], E], views: Mapping[str, Tensor]) -> None:
        self._encode = encode
        self._views = views
        self._known: dict[int, tuple[Tensor, E]] = {}

    def __getitem__(self, view: str) -> E:
        return self.of(self._views[view])

    def of(self, images: Tensor) -> E:
        """Embeddings of the images (N, 3, H, W) of a view, which is recognized by its tensor."""
        if id(images) not in self._known:
            # Keeps the images as well, because an id is unique only while the tensor exists.
            self._known[id(images)] = images, self._encode(images)
        return self._known[id(images)][1]
