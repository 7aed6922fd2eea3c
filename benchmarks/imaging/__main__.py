"""Diffusion, synthesis, tiling and whole data sets, on one thread unless a figure's name says
otherwise. `--only PART` runs one part, e.g. `--only diffusion`.
"""

import argparse
import io
from pathlib import Path

import cv2
import numpy as np
import PIL.Image
import torch

from benchmarks.common import read_photos, report
from benchmarks.imaging import diffusion, end_to_end, synthesis, tiling

PARTS = ("diffusion", "synthesis", "tiling", "end_to_end")
PACKAGES = ["numpy", "numba", "torch", "medpy", "opencv-contrib-python-headless", "ray"]
SIDE = 224


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imaging", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--only", choices=PARTS, help="one part of the benchmark")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    encoded = read_photos()
    photos = [center(np.asarray(PIL.Image.open(io.BytesIO(e)).convert("RGB"))) for e in encoded]
    figures: dict[str, float] = {}
    if arguments.only in (None, "diffusion"):
        figures |= diffusion.figures(photos)
    if arguments.only in (None, "synthesis"):
        figures |= synthesis.figures(photos)
    if arguments.only in (None, "tiling"):
        figures |= tiling.figures(photos, encoded)
    if arguments.only in (None, "end_to_end"):
        figures |= end_to_end.figures()
    report("imaging", figures, PACKAGES, arguments.json)


def center(image: np.ndarray) -> np.ndarray:
    """The central 224 × 224 pixels."""
    top, left = (image.shape[0] - SIDE) // 2, (image.shape[1] - SIDE) // 2
    return np.ascontiguousarray(image[top : top + SIDE, left : left + SIDE])


if __name__ == "__main__":
    main()
