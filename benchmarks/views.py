"""MoCo-v2 views per second from JPEG files on one core, compared with lightly's `MoCoV2Transform`.

Both decode each photograph and create a pair of normalized float32 views of 224 px. Also how many
cores make the tiles of 256 jigsaw puzzles a second, from photographs that are decoded, and how much
longer views of objects take than views of whole images.
"""

import io
import time
from itertools import count
from statistics import median

import cv2
import numpy as np
import PIL.Image
import torch
from lightly.transforms import MoCoV2Transform

from benchmarks.common import alternate, json_target, read_photos, report
from benchmarks.normalize import to_float
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.augmentations.center_crop import CenterCrop
from unshortcut.augmentations.resize import Resize
from unshortcut.data.decode import EncodedImage
from unshortcut.data.objects import ImageWithObjects
from unshortcut.data.source import ArrayImage
from unshortcut.methods.method import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.recipes.load import load_recipe

ROUNDS = 9
PUZZLES = 256


def main() -> None:
    target = json_target("views")
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    photos = read_photos()
    plan = load_recipe("moco-v2-imagenet").view_plan()
    lightly = MoCoV2Transform(input_size=224)
    calls = count()

    def ours(item: int) -> torch.Tensor:
        views = plan(EncodedImage(photos[item]), seed=0, epoch=next(calls), index=item)
        floats = [to_float(view[None], IMAGENET_MEAN, IMAGENET_STD) for view in views.values()]
        return torch.cat([torch.from_numpy(view) for view in floats])

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
            "jigsaw_tiles_cores": median(jigsaw_seconds(photos)),
            "object_views_overhead": object_views_overhead(photos),
        },
        ["lightly", "torch", "torchvision", "numba", "opencv-python-headless"],
        target,
    )


def object_views_overhead(photos: list[bytes]) -> float:
    """Time of two views of objects of 224 px, relative to that of two views of whole images.

    Each photograph has ten boxes, as many as are proposed for it.
    """
    plain = load_recipe("moco-v2-imagenet").view_plan()
    objects = load_recipe("moco-v2-imagenet", ["views.objects={}"]).view_plan()
    calls = count()
    boxes = []
    for number, photo in enumerate(photos):
        image, rng = EncodedImage(photo), np.random.default_rng(number)
        x, y = np.sort(rng.random((2, 10, 2)), axis=2) * [[[image.width]], [[image.height]]]
        boxes.append(np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1).astype(np.float32))

    def of_objects(item: int) -> object:
        image = ImageWithObjects(EncodedImage(photos[item]), boxes[item])
        return objects(image, seed=0, epoch=next(calls), index=item)

    def of_images(item: int) -> object:
        return plain(EncodedImage(photos[item]), seed=0, epoch=next(calls), index=item)

    return 1 / alternate(of_objects, of_images, len(photos), ROUNDS).ratio


def jigsaw_seconds(photos: list[bytes]) -> list[float]:
    """Seconds that one core takes for the nine tiles of 256 decoded images of 256 px, by round."""
    plan = load_recipe("jigsaw-imagenet").view_plan()
    square = Pipeline([Resize(256), CenterCrop(256)])
    images = []
    for photo in photos:
        image = EncodedImage(photo)
        params = square.sample(None, image.height, image.width)  # type: ignore[arg-type]
        images.append(ArrayImage(square.apply(image.pixels(), params)))
    seconds = []
    for epoch in range(ROUNDS + 1):
        start = time.perf_counter()
        for number in range(PUZZLES):
            plan(images[number % len(images)], seed=0, epoch=epoch, index=number)
        seconds.append(time.perf_counter() - start)
    return seconds[1:]  # the first round compiles


if __name__ == "__main__":
    main()
