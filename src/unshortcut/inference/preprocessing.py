"""How an image becomes the input of a model: resized, cropped at the center, normalized."""

from functools import lru_cache

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from unshortcut.arrays import ImageArray
from unshortcut.views.evaluation import EvaluationView

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class Preprocessing(BaseModel):
    """Input size, center crop and normalization of a model."""

    model_config = ConfigDict(extra="forbid")

    size: int = 224
    """Side of the square image that the model takes, in pixels."""
    crop_share: float = 0.875
    """Side of the center crop divided by the shorter side of the resized image."""
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    stretch: bool = False
    """Whether the image is resized to a square before it is cropped, whatever its aspect ratio."""

    @property
    def view(self) -> EvaluationView:
        """The resized and cropped image, before normalization."""
        return EvaluationView(self.size, self.crop_share, self.stretch)


def normalize(images: Tensor, preprocessing: Preprocessing) -> Tensor:
    """Normalize uint8 images (N, 3, H, W): (value / 255 - mean) / std.

    The result is float32 and channels last in memory, which most networks run fastest on.
    """
    if images.device.type != "cpu":
        constants = torch.tensor([preprocessing.mean, preprocessing.std], device=images.device)
        mean, std = constants.view(2, 1, 3, 1, 1)
        return (images.float() / 255 - mean) / std
    # A pixel has 256 values, so a table gives the same bits as the formula in a quarter of the
    # time: it reads a byte and writes a float once.
    pixels = images.permute(0, 2, 3, 1).contiguous()
    floats = torch.empty(pixels.shape, dtype=torch.float32)
    table = _table(preprocessing.mean, preprocessing.std)
    _look_up(pixels.numpy().reshape(-1), table, floats.numpy().reshape(-1))
    return floats.permute(0, 3, 1, 2)


def stack(images: list[ImageArray]) -> Tensor:
    """Stack n images (H, W, 3) to (n, 3, H, W), channels last in memory."""
    return torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)


@lru_cache(maxsize=16)
def _table(mean: tuple[float, ...], std: tuple[float, ...]) -> NDArray[np.float32]:
    """(3, 256): the normalized value of each level in each channel."""
    levels = torch.arange(256).float()
    table = (levels / 255 - torch.tensor(mean).view(3, 1)) / torch.tensor(std).view(3, 1)
    return table.numpy()


@njit(cache=True, nogil=True)
def _look_up(samples, table, out):  # type: ignore[no-untyped-def]
    for i in range(0, len(samples), 3):
        out[i] = table[0, samples[i]]
        out[i + 1] = table[1, samples[i + 1]]
        out[i + 2] = table[2, samples[i + 2]]
