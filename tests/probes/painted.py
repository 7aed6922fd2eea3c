"""Plain images whose red says their class, and a model with a space that sees it."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unshortcut.data.source import ArrayImage, BadImageError, ImageSource
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel

SIDE = 8
SPACES = ("invariant", "color", "rotation")
SHOWN = Preprocessing(size=SIDE, crop_share=1.0, mean=(0, 0, 0), std=(1, 1, 1))


class Painted(ImageSource):
    """Image i is of class i mod K; its green and blue are random, and say nothing."""

    def __init__(
        self, count: int, seed: int = 0, classes: int = 3, bad: tuple[int, ...] = ()
    ) -> None:
        self.classes = tuple(f"class {label}" for label in range(classes))
        self.labels: NDArray[np.int64] | None = np.arange(count) % classes
        colors = np.random.default_rng(seed).integers(0, 256, (count, 3), np.uint8)
        colors[:, 0] = self.labels
        self.colors = colors
        self.bad = bad
        self.key = f"painted {count} {seed} {classes} {bad}"

    def __len__(self) -> int:
        return len(self.colors)

    def image(self, index: int) -> ArrayImage:
        if index in self.bad:
            raise BadImageError("broken on purpose")
        return ArrayImage(np.tile(self.colors[index], (SIDE, SIDE, 1)))

    def identity(self, index: int) -> str:
        return f"{index % len(self.classes or ())}/{index:03d}.png"

    def fingerprint(self) -> str:
        return self.key


class Seeing:
    """Three blocks of `width` columns: green, the class, blue; and how often it was asked."""

    def __init__(self, width: int = 4) -> None:
        self.width = width
        self.calls = 0

    def features(self, images: Tensor) -> Tensor:
        self.calls += 1
        red, green, blue = images[:, :, 0, 0].unbind(1)
        known = F.one_hot((red * 255).round().long(), self.width).float()
        ones = torch.ones(len(images), self.width)
        return torch.cat([green[:, None] * ones, known, blue[:, None] * ones], dim=1)

    def model(self, fingerprint: str | None = None, name: str = "seeing") -> LoadedModel:
        return LoadedModel(name, SHOWN, self.features, fingerprint, spaces=SPACES)
