"""Seconds for an inspection of 10,000 JPEG files of 224 px in ten classes, without a model.

The files are random crops of the photographs of the test data, written to a temporary folder; the
time includes reading, testing all properties, the search for copies and the page.
"""

import tempfile
import time
from pathlib import Path

import PIL.Image
from rich.console import Console

from benchmarks.common import json_target, read_photos, report
from unshortcut.data.decode import EncodedImage
from unshortcut.inspection.inspector import inspect_data
from unshortcut.randomness import generator

IMAGES, CLASSES, SIDE = 10_000, 10, 224


def main() -> None:
    target = json_target("inspection")
    with tempfile.TemporaryDirectory() as folder:
        write_crops(Path(folder) / "crops", IMAGES)
        start = time.perf_counter()
        inspect_data(
            Path(folder) / "crops", out=Path(folder) / "page.html", console=Console(quiet=True)
        )
        seconds = time.perf_counter() - start
    packages = ["numpy", "numba", "simplejpeg", "Pillow", "scikit-learn"]
    report("inspection", {"inspect_seconds_10k": seconds}, packages, target)


def write_crops(folder: Path, count: int) -> None:
    """Random crops of photographs as JPEG files of qualities from 70 to 95."""
    photos = [PIL.Image.fromarray(EncodedImage(photo).pixels()) for photo in read_photos()]
    for number in range(count):
        random = generator("benchmark", "inspection", number)
        photo = photos[number % len(photos)]
        side = int(random.integers(SIDE // 2, min(photo.size) + 1))
        left = int(random.integers(0, photo.width - side + 1))
        top = int(random.integers(0, photo.height - side + 1))
        crop = photo.resize((SIDE, SIDE), box=(left, top, left + side, top + side))
        path = folder / f"class{random.integers(CLASSES)}" / f"{number:05d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        crop.save(path, quality=int(random.integers(70, 96)))


if __name__ == "__main__":
    main()
