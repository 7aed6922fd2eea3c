"""Encoders that know one thing of drawn images, and nothing else."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from unshortcut.arrays import ImageArray
from unshortcut.data.shapes import COLOR_NAMES, Shapes
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel
from unshortcut.reproduction.evaluation import SHAPES_SPLITS, Evaluation

SIZE = 24
SOURCES = (Shapes("train", size=SIZE, count=240), Shapes("test", size=SIZE, count=120))
EVALUATION = Evaluation(
    SOURCES[0],
    {split: Shapes(split, size=SIZE, count=8) for split in SHAPES_SPLITS} | {"test": SOURCES[1]},
)
PREPROCESSING = Preprocessing(size=SIZE, crop_share=1.0, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))

_UPRIGHT = {
    source.image(index).pixels().tobytes(): int(source.color_labels[index])
    for source in SOURCES
    for index in range(len(source))
}
"""The color of every image of these sources, by its pixels."""


def knows_color(image: ImageArray) -> Tensor:
    return one_hot(torch.tensor(_turned_back(image)[1]), len(COLOR_NAMES))


def knows_turn(image: ImageArray) -> Tensor:
    return one_hot(torch.tensor(_turned_back(image)[0]), 4)


def model_of(
    *known: Callable[[ImageArray], Tensor], spaces: tuple[str, ...] | None = None
) -> LoadedModel:
    """A model that knows these things side by side, each in as many columns as any."""

    def features(images: Tensor) -> Tensor:
        pixels = (images * 255).round().byte().permute(0, 2, 3, 1).numpy()
        rows = [torch.cat([_wide(know(image)) for know in known]) for image in pixels]
        return torch.stack(rows)

    return LoadedModel("oracle", PREPROCESSING, features, None, spaces=spaces)


def _wide(known: Tensor) -> Tensor:
    row = torch.zeros(len(COLOR_NAMES))
    row[: len(known)] = known
    return row


def _turned_back(image: ImageArray) -> tuple[int, int]:
    """By how many quarter turns an image is turned, and its color; zeros for other images."""
    for turns in range(4):
        back = np.ascontiguousarray(np.rot90(image, -turns))
        if back.tobytes() in _UPRIGHT:
            return turns, _UPRIGHT[back.tobytes()]
    return 0, 0
