"""MoCo-v2 views a second from JPEG bytes on one core, beside lightly's `MoCoV2Transform`.

Both make a pair of normalised float32 views of 224 px of each photograph, decoding included.
"""

import io
import tarfile
from itertools import count
from statistics import median

import cv2
import PIL.Image
import torch
from lightly.transforms import MoCoV2Transform

from benchmarks.common import alternate, json_target, real_data, report
from unshortcut.data.decode import EncodedImage
from unshortcut.imaging.normalise import to_float
from unshortcut.randomness import generator
from unshortcut.views.augmentation import Pipeline
from unshortcut.views.augmentations.color_jitter import ColorJitter
from unshortcut.views.augmentations.gaussian_blur import GaussianBlur
from unshortcut.views.augmentations.grayscale import Grayscale
from unshortcut.views.augmentations.horizontal_flip import HorizontalFlip
from unshortcut.views.augmentations.random_resized_crop import RandomResizedCrop

ROUNDS = 9
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def main() -> None:
    target = json_target("views")
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    with tarfile.open(real_data("photos.tar")) as archive:
        members = [archive.extractfile(member) for member in archive if member.isfile()]
        photos = [member.read() for member in members if member is not None]
    pipeline = Pipeline(
        [RandomResizedCrop(224), ColorJitter(), Grayscale(), GaussianBlur(), HorizontalFlip()]
    )
    lightly = MoCoV2Transform(input_size=224)

    calls = count()

    def ours(item: int) -> torch.Tensor:
        call = next(calls)
        image = EncodedImage(photos[item])
        draws = [
            pipeline.sample(generator(0, call, name), image.height, image.width)
            for name in ("query", "key")
        ]
        pixels = image.pixels(min(pipeline.shrink(draw) for draw in draws))
        views = [pipeline.apply(pixels, draw)[None] for draw in draws]
        return torch.cat([torch.from_numpy(to_float(view, MEAN, STD)) for view in views])

    def theirs(item: int) -> list[torch.Tensor]:
        return lightly(PIL.Image.open(io.BytesIO(photos[item])).convert("RGB"))

    paired = alternate(ours, theirs, len(photos), ROUNDS)
    views = 2 * len(photos)
    report(
        "views",
        {
            "views_per_second_ours": views / median(paired.ours),
            "views_per_second_lightly": views / median(paired.peer),
            "views_vs_lightly": paired.ratio,
        },
        ["lightly", "torch", "torchvision", "numba", "opencv-python-headless"],
        target,
    )


if __name__ == "__main__":
    main()
