"""Flattens texture with a bilateral filter, at random."""

from typing import ClassVar

from unshortcut.augmentations._filters import BilateralSettings
from unshortcut.augmentations._random import RandomlyApplied
from unshortcut.fields import Probability
from unshortcut.parts import settings


@settings
class BilateralFilter(BilateralSettings, RandomlyApplied):
    """With probability p, averages each pixel with the neighbors of similar color."""

    name: ClassVar[str] = "bilateral_filter"

    p: Probability = 0.5
