"""Turns the image into a cartoon, with flat colors and black outlines, at random."""

from typing import ClassVar

from unshortcut.augmentations._filters import CartoonSettings
from unshortcut.augmentations._random import RandomlyApplied
from unshortcut.fields import Probability
from unshortcut.parts import settings


@settings
class Cartoon(CartoonSettings, RandomlyApplied):
    """With probability p, applies a bilateral filter and draws the remaining edges over it."""

    name: ClassVar[str] = "cartoon"

    p: Probability = 0.5
