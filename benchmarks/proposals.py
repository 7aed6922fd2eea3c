"""How many annotated objects ten proposed boxes cover with an overlap of at least one half.

Beside random boxes of the same sizes and a box in the middle, on scenes of `shapes` and on COCO
photographs (`coco128.tar`); and images per second on one core. The settings of the proposers were
chosen on `shapes@scene-val`, on the first 100 images of `shapes@scene` and on photographs of the
split `train`; the figures are of later images of `shapes@scene` and of `val`. Selective search
needs OpenCV's contrib build.
"""

import argparse
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import torch

from benchmarks.common import real_data, report
from unshortcut.build.proposer import make_proposer
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource, Subset
from unshortcut.imaging.box_ranking import covered

BOXES = 10
FIRST, IMAGES = 200, 300
IMAGENET = 1_281_167

Propose = Callable[[np.ndarray], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proposals")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--model", default="timm:resnet18@random", help="for the method features")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    methods: dict[str, Propose] = {
        "features": _proposer("features", {"model": arguments.model}),
    }
    if hasattr(cv2, "ximgproc"):
        methods["selective_search"] = _proposer("selective_search", {})
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, tarfile.open(real_data("coco128.tar")) as archive:
        archive.extractall(folder, filter="data")
        later = np.arange(FIRST, FIRST + IMAGES)
        sources: dict[str, ImageSource] = {
            "shapes": Subset(open_data("shapes@scene"), later),
            "coco": open_data(f"{folder}@val"),
        }
        for data, source in sources.items():
            figures[f"{data}_centered"] = _covered(source, _centered)[0]
            for name, propose in methods.items():
                share, rate = _covered(source, propose)
                figures[f"{data}_{name}"] = share
                figures[f"{data}_{name}_random_boxes"] = _covered(source, _moved(propose))[0]
                figures[f"{data}_{name}_images_per_second"] = rate
                if data == "coco":
                    figures[f"imagenet_core_hours_{name}"] = IMAGENET / rate / 3600
    report("proposals", figures, ["torch", "timm", "numpy"], arguments.json)


def _proposer(name: str, settings: dict[str, str]) -> Propose:
    proposer = make_proposer(name, settings)
    proposer.check()
    return lambda image: proposer.propose(image, BOXES).boxes


def _centered(image: np.ndarray) -> np.ndarray:
    """One box of half the image's sides in its middle."""
    height, width = image.shape[:2]
    return np.array([[width / 4, height / 4, 3 * width / 4, 3 * height / 4]], np.float32)


def _moved(propose: Propose) -> Propose:
    """Boxes of the proposed sizes at random places."""
    rng = np.random.default_rng(0)

    def moved(image: np.ndarray) -> np.ndarray:
        boxes = propose(image)
        sides = boxes[:, 2:] - boxes[:, :2]
        room = np.maximum(np.array([image.shape[1], image.shape[0]]) - sides, 0)
        start = rng.random(sides.shape) * room
        return np.concatenate([start, start + sides], axis=1).astype(np.float32)

    return moved


def _covered(source: ImageSource, propose: Propose) -> tuple[float, float]:
    """The share of annotated objects that are covered, and images per second."""
    found, seconds, count = [], 0.0, min(IMAGES, len(source))
    for index in range(count):
        boxes = source.regions(index).trained_on().boxes
        assert boxes is not None
        image = source.image(index).pixels()
        start = time.perf_counter()
        proposed = propose(image)
        seconds += time.perf_counter() - start
        found.append(covered(boxes, proposed))
    return float(np.concatenate(found).mean()), count / seconds


if __name__ == "__main__":
    main()
