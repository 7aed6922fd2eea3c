"""Whole data sets, JPEG in and JPEG out: how fast, and what takes time besides the images.

`filter` runs at its defaults over photographs as they are (a quarter of a megapixel on average).
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import cv2
import ray

from benchmarks.common import read_photos
from unshortcut.build.api import filter_data, texturize
from unshortcut.build.copy_settings import CopySettings
from unshortcut.build.operation import make_operation
from unshortcut.build.run import BuildResult
from unshortcut.data.decode import EncodedImage

COPIES = 6
ROUNDS = 3
TEXTURES = 24


def figures() -> dict[str, float]:
    """Rates a core, and ratios of runs that were taken in turns."""
    photos = read_photos()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = _write(root / "photos", photos * COPIES)
        few = _write(root / "few", photos[:TEXTURES])
        cv2.setNumThreads(0)  # as in the workers
        found = _local(photos, source, root)
        textures = _timed(lambda out: texturize(few, out, workers=1), root)
        found["texturize_images_per_second_core"] = TEXTURES / textures
        found |= _ray(source, few, root)
    return found


def _local(photos: list[bytes], source: Path, root: Path) -> dict[str, float]:
    count = len(photos) * COPIES
    alone, one, two = [], [], []
    for _ in range(ROUNDS):
        alone.append(_work_alone(photos))
        one.append(_timed(lambda out: filter_data(source, out, workers=1), root))
        two.append(_timed(lambda out: filter_data(source, out, workers=2), root))
    pixels = sum(image.height * image.width for image in map(EncodedImage, photos)) * COPIES
    return {
        "filter_share_of_work": median(a / b for a, b in zip(alone, one, strict=True)),
        "filter_scaling_two_workers": median(a / b for a, b in zip(one, two, strict=True)),
        "filter_images_per_second_core": count / median(one),
        "filter_megapixels_per_second_core": pixels / 1e6 / median(one),
    }


def _work_alone(photos: list[bytes]) -> float:
    """Seconds of decoding, filtering and encoding all images, from memory to memory."""
    copying = CopySettings(make_operation("anisotropic", {}))
    start = time.perf_counter()
    for number, photo in enumerate(photos * COPIES):
        name = f"{number:05d}.jpg"
        copying.encode(copying.copy(EncodedImage(photo).pixels(), name), name)
    return time.perf_counter() - start


def _ray(source: Path, few: Path, root: Path) -> dict[str, float]:
    """Ray's speed over the local engine's, each with two workers; Ray's are running already."""
    makers = {"filter": partial(filter_data, source), "texturize": partial(texturize, few)}
    found = {}
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        _timed(partial(filter_data, few, engine="ray", workers=2), root)
        for name, make in makers.items():
            ratios = []
            for _ in range(ROUNDS):
                cluster = _timed(partial(make, engine="ray", workers=2), root)
                ratios.append(_timed(partial(make, workers=2), root) / cluster)
            found[f"{name}_ray_vs_local"] = median(ratios)
    finally:
        ray.shutdown()
    return found


def _timed(make: Callable[[Path], BuildResult], root: Path) -> float:
    """Seconds of making a data set, from the first image handed out to the manifest.

    Opening the source and compiling come before; they do not grow with the work.
    """
    out = root / "out"
    try:
        return make(out).seconds
    finally:
        shutil.rmtree(out, ignore_errors=True)


def _write(folder: Path, photos: list[bytes]) -> Path:
    folder.mkdir()
    for number, photo in enumerate(photos):
        (folder / f"{number:05d}.jpg").write_bytes(photo)
    return folder
