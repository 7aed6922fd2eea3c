"""Drawn images written as files, with cues that tell their class planted in them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from unshortcut.data.shapes import Shapes

Save = Callable[[Image.Image, int, np.random.Generator], tuple[Image.Image, dict[str, Any]]]
"""An image and its label, to the image to save and the options to save it with."""


def write_images(
    root: Path,
    save: Save | None = None,
    *,
    count: int = 120,
    classes: int = 3,
    size: int = 32,
    seed: int = 0,
    splits: Sequence[str] = ("train",),
    extension: str = "jpg",
) -> Path:
    """Write `SPLIT/CLASS/n.jpg`; without splits to speak of, `CLASS/n.jpg`."""
    random = np.random.default_rng(seed)
    for split in splits:
        drawn = Shapes(split, size=size, count=8 * -(-count // classes), seed=seed)
        kept = np.flatnonzero(drawn.shape_labels < classes)[:count]
        for number, index in enumerate(kept.tolist()):
            label = int(drawn.shape_labels[index])
            folder = root / (split if len(splits) > 1 else "") / f"class{label}"
            folder.mkdir(parents=True, exist_ok=True)
            image = Image.fromarray(drawn.image(index).pixels())
            options: dict[str, Any] = {"quality": 90}
            if save is not None:
                image, options = save(image, label, random)
            image.save(folder / f"{number:03d}.{extension}", **options)
    return root


def clean(image: Image.Image, label: int, random: Any) -> tuple[Image.Image, dict[str, Any]]:
    """Sizes and qualities that vary, whatever the class."""
    size = tuple(random.integers(28, 40, 2).tolist())
    return image.resize(size), {"quality": int(random.integers(60, 96))}


def quality_by_class(
    image: Image.Image, label: int, random: Any
) -> tuple[Image.Image, dict[str, Any]]:
    quality = random.integers(30, 50) if label == 0 else random.integers(80, 96)
    return image, {"quality": int(quality)}


def size_by_class(
    image: Image.Image, label: int, random: Any
) -> tuple[Image.Image, dict[str, Any]]:
    side = int(random.integers(30, 34)) + 6 * label
    return image.resize((side, 36)), {"quality": 90}


def tinted(image: Image.Image, label: int, random: Any) -> tuple[Image.Image, dict[str, Any]]:
    """A red tint over the images of one class."""
    pixels = np.asarray(image).astype(np.float64)
    if label == 0:
        pixels = 0.5 * pixels + 0.5 * np.array([250.0, 60, 60])
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8)), {"quality": 90}
