"""Mixup and CutMix: images of a batch are mixed with their neighbors, and so are their labels."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber, Number
from unshortcut.methods.step import DeviceBatch
from unshortcut.parts import settings
from unshortcut.randomness import Key, Rng, generator


@dataclass(frozen=True)
class Mixture:
    """How every image of a batch is mixed with its neighbor."""

    share: float = 1.0
    """Share of an image's own label, at least a half; its neighbor's label has the rest."""
    kept: Tensor | None = None
    """(H, W) bool, of CutMix: an image keeps these pixels and takes its neighbor's elsewhere."""


@settings
class MixingSettings:
    """Settings of label smoothing, mixup and CutMix, of a method or of a task."""

    section: ClassVar[str] = "method"
    """Where a recipe or protocol has them."""

    label_smoothing: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    """Share of a label that is spread evenly over all classes (Szegedy et al. 2016)."""
    mixup: NonNegativeNumber = 0.0
    """α of Beta(α, α), from which the share of an image in a mixed pair is drawn (Zhang et al.
    2018); 0 mixes nothing."""
    cutmix: NonNegativeNumber = 0.0
    """α of Beta(α, α), from which the share of pixels is drawn that an image keeps; a box of its
    neighbor replaces the others (CutMix, Yun et al. 2019). 0 pastes nothing. With mixup as well,
    each batch uses one of the two, chosen at random."""

    def check(self, batch: DeviceBatch) -> None:
        """Raise a `UsageError` if a device has an odd number of images to be mixed in pairs."""
        mixing = "mixup" if self.mixup else "cutmix"
        if (self.mixup or self.cutmix) and batch.images % 2:
            raise UsageError(
                f"{self.section}.{mixing} mixes pairs of images, but {batch.images} images at a "
                "time are on each device; make data.batch_size / (devices × training.accumulate) "
                "even"
            )

    def mixture(self, images: Tensor, *key: Key) -> Mixture:
        """Draw the mixture of a batch of images (N, 3, H, W); it is the same on all ranks."""
        if self.cutmix and (not self.mixup or generator(*key, "mixing").random() < 0.5):
            height, width = images.shape[-2:]
            return cutmix_box(self.cutmix, height, width, generator(*key, "cutmix"))
        return Mixture(mixing_share(self.mixup, *key))

    def cross_entropy(self, logits: Tensor, label: Tensor, mixture: Mixture) -> Tensor:
        """Cross-entropy with the labels (N,) of mixed images, in proportion to their shares."""
        share, smoothing = mixture.share, self.label_smoothing
        loss = F.cross_entropy(logits, label, label_smoothing=smoothing)
        if share == 1:
            return loss
        other = F.cross_entropy(logits, neighbors(label), label_smoothing=smoothing)
        return share * loss + (1 - share) * other


def mixing_share(alpha: float, *key: Key) -> float:
    """The share of each image in its mixed pair, from Beta(alpha, alpha); 1 for alpha 0."""
    if not alpha:
        return 1.0
    share = float(generator(*key, "mixup").beta(alpha, alpha))
    # Of a pair both mixtures are trained on, so exchanging the shares changes only their
    # order. With the larger share, the image's own label remains the one to predict.
    return max(share, 1 - share)


def cutmix_box(alpha: float, height: int, width: int, rng: Rng) -> Mixture:
    """A box that images of height × width take from their neighbors (CutMix, section 3.1).

    Its center is uniform over the image, and what lies outside is cut off. Each label counts by the
    pixels that are left of its image.
    """
    side = math.sqrt(1 - rng.beta(alpha, alpha))  # relative to that of the image
    top, bottom = _span(height, side, rng)
    left, right = _span(width, side, rng)
    kept = torch.ones(height, width, dtype=torch.bool)
    kept[top:bottom, left:right] = False
    share = 1 - (bottom - top) * (right - left) / (height * width)
    return Mixture(share, kept) if share >= 0.5 else Mixture(1 - share, ~kept)  # as in mixup


def _span(length: int, side: float, rng: Rng) -> tuple[int, int]:
    """Where a box begins and ends along one side of an image."""
    size, center = int(length * side), int(rng.integers(length))
    return max(0, center - size // 2), min(length, center + (size + 1) // 2)


def mixed(images: Tensor, mixture: Mixture) -> Tensor:
    """Images (N, 3, H, W), each mixed with its neighbor."""
    if mixture.share == 1:
        return images
    if mixture.kept is not None:
        return torch.where(mixture.kept.to(images.device), images, neighbors(images))
    return mixture.share * images + (1 - mixture.share) * neighbors(images)


def neighbors(rows: Tensor) -> Tensor:
    """Rows (N, …) of an even N with each pair of neighbors exchanged: 1, 0, 3, 2, …

    The order of the images is random already, so neighbors are random pairs. They are the same
    pairs however many devices share the batch, unlike those of timm's and torchvision's mixup.
    """
    return rows.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)
