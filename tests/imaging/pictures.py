"""Pictures to compare libraries on: synthetic ones, and photographs where there are some."""

import io
import tarfile

import numpy as np
import PIL.Image

from tests.real_data import real_data

KINDS = ("drawn", "photographs")


def pictures(kind: str, count: int = 16) -> list[np.ndarray]:
    """Some uint8 (h, w, 3) pictures of one of the `KINDS`; photographs skip where absent."""
    if kind == "photographs":
        with tarfile.open(real_data("photos.tar")) as archive:
            files = [archive.extractfile(name) for name in sorted(archive.getnames())[:count]]
            data = [file.read() for file in files if file is not None]
        return [np.array(PIL.Image.open(io.BytesIO(one)).convert("RGB")) for one in data]
    rng = np.random.default_rng(0)
    images = []
    for _ in range(4):
        height, width = rng.integers(200, 500, 2)
        coarse = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        smooth = PIL.Image.fromarray(coarse).resize((width, height), PIL.Image.Resampling.BICUBIC)
        noise = rng.normal(0, 20, (height, width, 3))
        images.append(np.clip(np.asarray(smooth) + noise, 0, 255).astype(np.uint8))
    return images


def difference(ours: np.ndarray, reference: object) -> float:
    """Mean absolute difference of 255."""
    other = np.asarray(reference)
    assert ours.dtype == np.uint8
    assert ours.shape == other.shape
    return float(np.abs(ours.astype(int) - other).mean())
