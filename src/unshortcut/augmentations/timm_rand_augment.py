"""timm's RandAugment, by the string that papers state, e.g. `rand-m9-mstd0.5-inc1` (MAE)."""

import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from PIL import Image
from timm.data.auto_augment import posterize, rand_augment_transform

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.augmentations.rand_augment import Fill
from unshortcut.fields import Allowed
from unshortcut.parts import settings
from unshortcut.randomness import Rng

_NUMBER = r"\d+(\.\d+)?"
_SECTION = rf"(m\d+|n\d+|p{_NUMBER}|mstd{_NUMBER}|mmax\d+|inc[01]|t(weights|3a|3aug))"
_CONFIG = re.compile(rf"rand(-{_SECTION})*")
_LOCK = threading.Lock()

Config = Annotated[
    str,
    # timm skips sections that it does not know.
    Allowed(
        "timm's notation, such as rand-m9-mstd0.5-inc1, with sections of m, n, p, mstd, mmax, inc "
        "and t",
        lambda config: _CONFIG.fullmatch(config) is not None,
    ),
]


@settings
class TimmRandAugment(Augmentation):
    """Applies timm's transform; the parameter is the seed of what timm samples."""

    name = "timm_rand_augment"
    keeps_layout = False  # timm does not tell which operations it has sampled

    config: Config = "rand-m9-mstd0.5-inc1"
    """Magnitude m, operations n, probability p, noise mstd, and whether all operations get stronger
    with the magnitude (inc)."""
    fill: Fill = (124, 116, 104)
    """Color of the pixels that a geometric operation leaves empty."""
    interpolation: Literal["random", "bilinear", "bicubic"] = "random"
    """How geometric operations interpolate; `random` is bilinear or bicubic for each of them."""

    def sample(self, rng: Rng, height: int, width: int) -> int:
        return int(rng.integers(2**32))

    def apply(self, image: ImageArray, params: int) -> ImageArray:
        transform = _transform(self.config, self.fill, self.interpolation)
        with seeded(params):
            return np.array(transform(Image.fromarray(np.ascontiguousarray(image))))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of Python and NumPy, which timm uses, and restore them after.

    Threads that do so wait for each other.
    """
    with _LOCK:
        state, numpy_state = random.getstate(), np.random.get_state()
        random.seed(seed)
        np.random.seed(seed)
        try:
            yield
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)


@lru_cache(maxsize=8)
def _transform(config: str, fill: Fill, interpolation: str) -> Callable[[Image.Image], Image.Image]:
    options: dict[str, Any] = {"img_mean": fill}
    if interpolation != "random":
        options["interpolation"] = Image.Resampling[interpolation.upper()]
    made = rand_augment_transform(config, options)
    for operation in made.ops:
        if operation.aug_fn is posterize:
            operation.aug_fn = _posterize
    transform: Callable[[Image.Image], Image.Image] = made
    return transform


def _posterize(image: Image.Image, bits: int, **options: Any) -> Image.Image:
    """timm's. At the largest magnitudes it keeps no bits: black, which recent Pillow refuses."""
    if bits <= 0:
        return Image.new(image.mode, image.size)
    posterized: Image.Image = posterize(image, bits, **options)
    return posterized
