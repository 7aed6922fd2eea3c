"""A contact sheet of the texture tools, with six photographs from scikit-image and scikit-learn.

`python -m benchmarks.texture_sheet docs/pictures/texture.jpg` creates the picture in the docs.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
import skimage.data
from sklearn.datasets import load_sample_image

from unshortcut.arrays import ImageArray
from unshortcut.augmentations.augmentation import make_augmentation
from unshortcut.build.operation import OPERATIONS
from unshortcut.imaging.synthesis import example_patches, synthesize_texture
from unshortcut.randomness import generator
from unshortcut.views.sheet import sheet

SIDE = 224
FILTERS = ("anisotropic", "robust", "bilateral", "cartoon", "gaussian", "stylized")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.texture_sheet", description=__doc__)
    parser.add_argument("out", type=Path, metavar="PICTURE")
    out: Path = parser.parse_args().out
    rows = [row(number, image) for number, image in enumerate(photographs())]
    page = sheet(rows, ["image", *FILTERS, "texture", "patch tiling"], side=160)
    page.save(out, quality=88)


def photographs() -> list[ImageArray]:
    """Six photographs, cropped to their center and resized to 224 × 224."""
    images = [
        getattr(skimage.data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")
    ]
    images += [load_sample_image(name) for name in ("china.jpg", "flower.jpg")]
    return [square(np.asarray(image)[:, :, :3]) for image in images]


def square(image: ImageArray) -> ImageArray:
    side = min(image.shape[:2])
    top, left = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2
    cut = np.ascontiguousarray(image[top : top + side, left : left + side])
    return np.asarray(cv2.resize(cut, (SIDE, SIDE), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def row(number: int, image: ImageArray) -> list[ImageArray]:
    filtered = [
        OPERATIONS.build({"name": name}).apply(image, generator(number, name)) for name in FILTERS
    ]
    texture = synthesize_texture(example_patches(image, generator(number)), SIDE, SIDE, seed=number)
    tiling = make_augmentation("patch_tiling", {"size": SIDE})
    tiles = tiling.apply(image, tiling.sample(generator(number), SIDE, SIDE))
    return [image, *filtered, texture, tiles]


if __name__ == "__main__":
    main()
