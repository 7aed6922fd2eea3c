"""Images that carry the answer of a model: it reads its logits from their first row."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tests.measuring.made import arrays, subject_of
from unshortcut.data.source import ImageSource
from unshortcut.measuring.subjects.class_names import ClassMapping
from unshortcut.measuring.subjects.classifier import head
from unshortcut.measuring.subjects.subject import Subject

SIDE, SCALE = 16, 10.0


def planted(logits: Sequence[Sequence[float]]) -> NDArray[np.uint8]:
    """Images (N, 16, 16, 3) that a reader answers with these logits, 0 to 10 in steps of 10/255."""
    values = np.asarray(logits, dtype=np.float64)
    images = np.zeros((len(values), SIDE, SIDE, 3), np.uint8)
    images[:, 0, : values.shape[1], 0] = np.rint(values / SCALE * 255)
    return images


def deciding(decisions: Sequence[int], classes: int) -> NDArray[np.uint8]:
    """Images (N, 16, 16, 3) on which a reader of so many classes decides so, and is sure."""
    return planted((SCALE * np.eye(classes)[list(decisions)]).tolist())


def reader(
    source: ImageSource, classes: Sequence[str], mapping: ClassMapping | None = None, **given: Any
) -> Subject:
    """A model with a head of these classes that reads its logits from the images of a source."""
    shown = arrays(deciding([0], len(classes)), [0], classes)
    model = subject_of(partial(_read, len(classes)), shown).model
    return Subject("reader", model, source, head(model, mapping, "mean"), **given)


def _read(classes: int, images: Tensor) -> Tensor:
    return SCALE * images[:, 0, 0, :classes]
