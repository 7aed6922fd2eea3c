"""Images that a user has at hand (PIL images, files, arrays) as a model takes them."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from torch import Tensor

from unshortcut.data.decode import EncodedImage, pillow_to_rgb
from unshortcut.data.files import read_file
from unshortcut.data.open import open_data
from unshortcut.data.source import ArrayImage, BadImageError, Image, ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing, normalize, stack

ImageLike = PIL.Image.Image | str | Path | NDArray[np.uint8]
"""A PIL image, the path of an image file, or a uint8 RGB array (H, W, 3)."""
ImagesLike = str | Path | ImageSource | ImageLike | Sequence[ImageLike] | Tensor
"""A data set by its spec or opened; one image or several; or a uint8 tensor (N, 3, H, W)."""


@dataclass(frozen=True)
class ImageTransform:
    """Turns one image into the input of a model, as torchvision's transforms do.

    A PIL image, the path of a file or a uint8 array (H, W, 3) becomes a normalized float tensor
    (3, S, S). The pixels are those that `embed`, probes and the audit show to the model.
    """

    preprocessing: Preprocessing

    def __call__(self, image: ImageLike) -> Tensor:
        try:
            pixels = self.preprocessing.view(as_image(image), 0, 0, 0)["image"]
        except BadImageError as error:
            name = f"'{image}'" if isinstance(image, str | Path) else "the image"
            raise UsageError(f"{name} cannot be read: {error}") from None
        return normalize(stack([pixels]), self.preprocessing)[0].contiguous()


class ImageList(ImageSource):
    """Images at hand as a source without labels."""

    def __init__(self, images: Sequence[ImageLike]) -> None:
        if not len(images):
            raise UsageError("there is no image in the list")
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def image(self, index: int) -> Image:
        return as_image(self.images[index])

    def identity(self, index: int) -> str:
        image = self.images[index]
        return os.fspath(image) if isinstance(image, str | Path) else f"image {index}"

    def fingerprint(self) -> str:
        digest = hashlib.sha256(b"list")
        for index in range(len(self)):
            digest.update(self.image(index).pixels().tobytes())
        return digest.hexdigest()


def as_image(image: ImageLike) -> Image:
    """An image at hand, upright and in RGB."""
    if isinstance(image, str | Path):
        return EncodedImage(read_file(Path(image)))
    if isinstance(image, PIL.Image.Image):
        return ArrayImage(pillow_to_rgb(image))
    if not isinstance(image, np.ndarray):
        raise UsageError(
            f"an image is a PIL image, a path or a uint8 array, not a {type(image).__name__}"
        )
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise UsageError(
            f"an array must be uint8 of the shape (H, W, 3), not {image.dtype} {image.shape}"
        )
    return ArrayImage(image)


def as_source(images: ImagesLike) -> ImageSource:
    """A data set opened by its spec, or images at hand as a source."""
    if isinstance(images, str | Path | ImageSource):
        return open_data(images)
    if isinstance(images, PIL.Image.Image):
        return ImageList([images])
    given: Any = images
    if isinstance(images, Tensor):
        if images.ndim != 4 or images.shape[1] != 3:
            raise UsageError(f"a batch must have the shape (N, 3, H, W), not {tuple(images.shape)}")
        given = images.permute(0, 2, 3, 1).cpu().numpy()
    if isinstance(given, np.ndarray) and given.ndim == 3:
        given = given[None]
    return ImageList(given)
