"""Subjects of an audit whose decisions are known: a model that is a function, images in memory."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from unshortcut.data.source import ArrayImage, ImageSource
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.classifier import head
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import from_module

Answer = Callable[[Tensor], Tensor]
"""Images (N, 3, S, S), their values 0 to 1, to features (N, D) or logits (N, C)."""


class Arrays(ImageSource):
    """Images (N, h, w, 3) in memory."""

    def __init__(
        self,
        pixels: NDArray[np.uint8],
        labels: Sequence[int] | NDArray[np.int64] | None,
        classes: Sequence[str] | None,
    ) -> None:
        self.pixels = pixels
        self.labels = None if labels is None else np.asarray(labels, dtype=np.int64)
        self.classes = None if classes is None else tuple(classes)

    def __len__(self) -> int:
        return len(self.pixels)

    def image(self, index: int) -> ArrayImage:
        return ArrayImage(self.pixels[index])

    def identity(self, index: int) -> str:
        return f"{index}.png"

    def fingerprint(self) -> str:
        return hashlib.sha256(self.pixels.tobytes()).hexdigest()


def arrays(
    pixels: NDArray[np.uint8],
    labels: Sequence[int] | NDArray[np.int64] | None = None,
    classes: Sequence[str] | None = None,
) -> ImageSource:
    """A source of the images (N, h, w, 3)."""
    return Arrays(pixels, labels, classes)


def subject_of(
    logits: Answer | None,
    source: ImageSource,
    *,
    features: Answer | None = None,
    name: str = "model",
    **settings: Any,
) -> Subject:
    """A model that sees the images of a source whole and unscaled, values 0 to 1.

    logits: columns are the source's classes, or numbered where it has none; None for a model
    without a head, which has no decisions here. Its features are these logits unless stated.
    """
    answer = features or logits
    assert answer is not None
    loaded = from_module(
        name,
        logits if isinstance(logits, nn.Module) else nn.Identity(),
        Preprocessing(
            size=source.image(0).height, crop_share=1.0, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0)
        ),
        features=answer,
        logits=logits,
        classes=source.classes,
    )
    chosen = Settings(**settings)
    decides = None if logits is None else head(loaded, None, chosen.aggregate)
    return Subject(name, loaded, source, decides, chosen)
