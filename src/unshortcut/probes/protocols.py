"""The linear evaluation protocols of the papers: how each trains its classifier.

All of them train on random resized crops (8 % to 100 % of the image) and horizontal flips, which
are sampled anew in every epoch, with the encoder in eval mode. Learning rates are those for the
2048 features of a ResNet-50, except that of MAE. `protocol_training.py` does the training.
"""

import math
from dataclasses import dataclass
from typing import Literal

from unshortcut.errors import unknown

INIT_STD = 0.01
"""Standard deviation of the initial weights, the same in most papers."""


@dataclass(frozen=True)
class Protocol:
    """How a paper trains its linear classifier; the bias starts at 0."""

    name: str
    lr: float
    batch_size: int
    epochs: int
    iterations: int | None = None
    """If given, the training ends after so many steps, or after `epochs` if that is earlier."""
    drops: tuple[int, ...] = ()
    """Epochs at which the learning rate is divided by 10; if empty, it follows a cosine to 0."""
    warmup_epochs: int = 0
    """Epochs over which the learning rate rises linearly from 0, updated in every step."""
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 0.0
    per_256: bool = False
    """Whether `lr` is stated for a batch of 256 and scales with the batch size."""
    optimizer: Literal["sgd", "lars", "adam"] = "sgd"
    """LARS adapts the weight only, as in MAE; Adam ignores `momentum`."""
    normalized: bool = False
    """Whether batch norm without affine parameters precedes the classifier; incomplete last batches
    are then dropped."""
    init_std: float | None = INIT_STD
    """Standard deviation of the initial weights. None: 1 / sqrt(D) for D features, truncated at two
    standard deviations, the default of the library that BYOL's code uses."""

    def lr_at(self, epoch: float) -> float:
        """The learning rate at a fractional epoch."""
        peak = self.lr * (self.batch_size / 256 if self.per_256 else 1)
        if epoch < self.warmup_epochs:
            return peak * epoch / self.warmup_epochs
        if self.drops:
            return peak * 0.1 ** sum(epoch >= drop for drop in self.drops)
        progress = (epoch - self.warmup_epochs) / (self.epochs - self.warmup_epochs)
        return peak * 0.5 * (1 + math.cos(math.pi * progress))


MOCO = Protocol("moco", lr=30, batch_size=256, epochs=100, drops=(60, 80))
"""MoCo's published code."""
NSN = Protocol("nsn", lr=10, batch_size=128, epochs=60, drops=(30, 40, 50))
"""Non-semantic negatives, appendix, for ImageNet-100 and STL-10."""
LOOC = Protocol("looc", lr=30, batch_size=256, epochs=200, drops=(120, 160))
"""LooC, section 4 and appendix D, for ImageNet-100 and CUB-200."""
LOOC_INAT = Protocol("looc-inat", lr=30, batch_size=256, epochs=100, drops=(60, 80))
"""The same for iNaturalist."""
BYOL = Protocol(
    "byol", lr=0.2, per_256=True, batch_size=1024, epochs=80, nesterov=True, init_std=None
)
"""BYOL's published code, with a cosine in every step; the paper chooses the best of five learning
rates on held-out images. Its crops, like those of MAE, are resized with bicubic filters (BYOL's
without antialiasing) and a box that exceeds the image is cut off instead of sampled again; ours are
those of torchvision for all protocols."""
MAE = Protocol(
    "mae", lr=0.1, per_256=True, batch_size=16384, epochs=90, warmup_epochs=10, optimizer="lars",
    normalized=True,
)  # fmt: skip
"""MAE's published code."""
PROTOCOLS = {protocol.name: protocol for protocol in (MOCO, NSN, LOOC, LOOC_INAT, BYOL, MAE)}


def protocol_named(name: str) -> Protocol:
    """Look up a protocol; an unknown name is a `UsageError` that suggests the nearest."""
    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
