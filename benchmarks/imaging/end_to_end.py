"""Copying whole data sets from JPEG to JPEG: speed, and overhead beyond processing the images.

`filter` runs with its defaults on the original photographs (a quarter megapixel on average).
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
    """Images per second and core, and ratios of alternating runs."""
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
    """Seconds to decode, filter and encode all images in memory."""
    settings = CopySettings(make_operation("anisotropic", {}))
    start = time.perf_counter()
    for number, photo in enumerate(photos * COPIES):
        name = f"{number:05d}.jpg"
        settings.encode(settings.copy(EncodedImage(photo).pixels(), name), name)
    return time.perf_counter() - start


def _ray(source: Path, few: Path, root: Path) -> dict[str, float]:
    """Speed of Ray divided by that of the local engine, each with two workers that are running."""
    builders = {"filter": partial(filter_data, source), "texturize": partial(texturize, few)}
    found = {}
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        _timed(partial(filter_data, few, engine="ray", workers=2), root)
        for name, build in builders.items():
            ratios = []
            for _ in range(ROUNDS):
                cluster = _timed(partial(build, engine="ray", workers=2), root)
                ratios.append(_timed(partial(build, workers=2), root) / cluster)
            found[f"{name}_ray_vs_local"] = median(ratios)
    finally:
        ray.shutdown()
    return found


def _timed(build: Callable[[Path], BuildResult], root: Path) -> float:
    """Seconds to build a data set, from the first task to the manifest.

    Opening the source and compiling are not included; they do not depend on the number of images.
    """
    out = root / "out"
    try:
        return build(out).seconds
    finally:
        shutil.rmtree(out, ignore_errors=True)


def _write(folder: Path, photos: list[bytes]) -> Path:
    folder.mkdir()
    for number, photo in enumerate(photos):
        (folder / f"{number:05d}.jpg").write_bytes(photo)
    return folder
