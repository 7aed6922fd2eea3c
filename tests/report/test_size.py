"""The size of a page: four models on images that are as hard to compress as photographs."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.test_cli import call
from unshortcut.models.embedded import embedded_names

LARGEST = 3_000_000
CLASSES, IMAGES, SIDE = ("ant", "bee", "cat"), 30, 112


def natural(rng: np.random.Generator) -> np.ndarray:
    """Noise with the spectrum of photographs, amplitude 1 / frequency, in every channel."""
    steps = np.hypot(np.fft.fftfreq(SIDE)[:, None], np.fft.fftfreq(SIDE)[None])
    waves = np.fft.fft2(rng.standard_normal((3, SIDE, SIDE))) / np.maximum(steps, 1 / SIDE)
    values = np.fft.ifft2(waves).real.transpose(1, 2, 0)
    values = (values - values.min()) / np.ptp(values)
    return (255 * values).astype(np.uint8)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_page_of_four_models_is_smaller_than_three_megabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    for split in ("train", "val"):
        for name in CLASSES:
            (tmp_path / "photos" / split / name).mkdir(parents=True)
            for number in range(IMAGES):
                file = tmp_path / "photos" / split / name / f"{number}.png"
                Image.fromarray(natural(rng)).save(file)
    models = [f"embedded:{name}" for name in embedded_names()]
    assert len(models) == 3
    status = call(
        "audit", *models, "timm:resnet10t@random", "--size", "64", "--data", "photos@val",
        "--train", "photos@train", "--shift", "photos@train", "--max-images", "60",
        "--out", "page.html",
    )  # fmt: skip
    assert status == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count("data:image/") > 150
    assert len(page.encode()) < LARGEST
