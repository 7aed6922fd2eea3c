"""Conflict stimuli that a model can read like a book: one pixel tells the shape, one the texture.

A third tells which of the two a model that obeys it will follow.
"""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

SIDE = 8
STEP = 10
"""Between the values of two classes."""


def paint(
    folder: Path, classes: Sequence[str], cues: Sequence[tuple[str, str]], obeyed: Sequence[str]
) -> Path:
    """A stimulus for each pair of cues; `obeyed` is the class that the third pixel tells."""
    for number, ((shape, texture), third) in enumerate(zip(cues, obeyed, strict=True)):
        pixels = np.zeros((SIDE, SIDE, 3), np.uint8)
        for column, name in enumerate((shape, texture, third)):
            pixels[0, column] = STEP * classes.index(name)
        path = folder / shape / f"{shape}{number}-{texture}{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), pixels)
    return folder


class Reads:
    """Logits (N, classes) of a model that reads one of the pixels, and is sure of it."""

    def __init__(self, column: int, classes: int) -> None:
        self.column = column
        self.classes = classes

    def __call__(self, images: Tensor) -> Tensor:
        told = (images[:, 0, 0, self.column] * 255 / STEP).round().to(torch.int64)
        return 5 * F.one_hot(told, self.classes).float()
