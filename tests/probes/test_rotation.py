"""The rotation probe: it sees turned images, needs no labels, and tells sight from blindness."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.small import TINY
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import LoadedModel, from_module
from unshortcut.probes.run import probe


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Unlabeled images that are bright at the top, in a train and a val split."""
    ramp = np.linspace(1, 0, 20)[:, None, None]
    for split, count in (("train", 60), ("val", 24)):
        (tmp_path / "photos" / split).mkdir(parents=True)
        for number in range(count):
            noise = np.random.default_rng((count, number)).uniform(0, 0.3, (20, 26, 3))
            pixels = (200 * (0.8 * ramp + noise)).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / split / f"{number}.png")
    return tmp_path / "photos"


def model(seed: int, *, blind: bool) -> LoadedModel:
    """Features: mean brightness of the four halves; or the same without their differences."""

    def features(images: torch.Tensor) -> torch.Tensor:
        gray = images.mean(1)
        rows, columns = gray.mean(2).chunk(2, dim=1), gray.mean(1).chunk(2, dim=1)
        if blind:
            return torch.stack([gray.mean((1, 2)), gray.std((1, 2))], 1)
        return torch.stack([half.mean(1) for half in (*rows, *columns)], 1)

    encoder = create_encoder(TINY, seed)
    return from_module("seer", encoder, Preprocessing(size=16), features=features)


def test_sight_and_blindness_for_orientation_on_unlabeled_images(photos: Path) -> None:
    result = probe(model(0, blind=False), photos, "rotation")
    assert result.kind == "rotation" and list(result.scores) == ["val"]
    assert result.scores["val"].mean == 100
    assert probe(model(1, blind=True), photos, "rotation").scores["val"].mean < 45


def test_each_image_is_seen_once_so_that_no_image_is_on_both_sides_of_a_hold_out(
    photos: Path,
) -> None:
    counts: list[int] = []

    def features(images: torch.Tensor) -> torch.Tensor:
        counts.append(len(images))
        return images.mean((2, 3))

    encoder = create_encoder(TINY, 0)
    counting = from_module("counting", encoder, Preprocessing(size=16), features=features)
    probe(counting, photos, "rotation", seeds=1)
    assert sum(counts) == 60 + 24


def test_a_papers_protocol_reads_the_same(photos: Path) -> None:
    result = probe(model(0, blind=False), photos, "rotation", protocol="looc", seeds=1)
    assert result.scores["val"].mean > 90 and result.training["protocol"] == "looc"


def test_wrong_settings_and_kinds_that_need_labels_are_refused(photos: Path) -> None:
    with pytest.raises(UsageError, match="unknown key 'turns'"):
        probe(model(0, blind=False), photos, "rotation", turns="all")
    with pytest.raises(UsageError, match="has no labels"):
        probe(model(0, blind=False), photos, "linear")
