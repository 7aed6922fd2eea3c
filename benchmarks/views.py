"""MoCo-v2 views per second from JPEG files on one core, compared with lightly's `MoCoV2Transform`.

Both decode each photograph and create a pair of normalized float32 views of 224 px.
"""

import io
from itertools import count
from statistics import median

import cv2
import PIL.Image
import torch
from lightly.transforms import MoCoV2Transform

from benchmarks.common import alternate, json_target, read_photos, report
from benchmarks.normalize import to_float
from unshortcut.data.decode import EncodedImage
from unshortcut.methods.method import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.recipes.load import load_recipe

ROUNDS = 9


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
        },
        ["lightly", "torch", "torchvision", "numba", "opencv-python-headless"],
        target,
    )


if __name__ == "__main__":
    main()
