"""Training on random crops: cached copies are the epochs of new ones, and the crops are keyed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torchvision.transforms import v2

from unshortcut.data.named import ArraySource
from unshortcut.data.rotated import Rotated
from unshortcut.errors import UsageError
from unshortcut.inference import features as inference
from unshortcut.inference.features import compute_features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import LoadedModel
from unshortcut.probes import protocols
from unshortcut.probes.protocol_training import run_protocol
from unshortcut.probes.protocols import NSN
from unshortcut.probes.run import probe
from unshortcut.spaces.subsets import probe_spaces, select_spaces

EPOCHS = 4
SHORT = replace(NSN, lr=0.5, batch_size=8, epochs=EPOCHS, drops=(3,))
SHOWN = Preprocessing(size=8, crop_share=1.0, mean=(0, 0, 0), std=(1, 1, 1))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(protocols.PROTOCOLS, "nsn", SHORT)


def images(name: str, count: int, seed: int) -> ArraySource:
    """Noise on a ramp whose direction is the class."""
    rng, labels = np.random.default_rng(seed), np.arange(count) % 3
    ramp = np.linspace(0, 90, 20)
    ramps = [ramp[:, None] + 0 * ramp, 0 * ramp[:, None] + ramp, ramp[:, None] + ramp]
    pixels = [ramps[label][..., None] + rng.integers(0, 120, (20, 20, 3)) for label in labels]
    return ArraySource(name, np.array(pixels).astype(np.uint8), ("a", "b", "c"), labels)


TRAIN, TEST = images("train", 30, 0), images("test", 60, 1)


def model(fingerprint: str | None = "pixels", spaces: tuple[str, ...] | None = None) -> LoadedModel:
    """Features are the gray pixels themselves, so that every crop has its own."""
    return LoadedModel(
        "pixels", SHOWN, lambda batch: batch.mean(1).flatten(1), fingerprint, spaces=spaces
    )


def scores(views: Any, kind: str = "linear", **settings: Any) -> list[dict[str, float]]:
    result = probe(
        model(), TRAIN, kind, tests={"test": TEST}, protocol="nsn", views=views, seeds=2, **settings
    )
    return [score.to_dict() for score in result.scores.values()]


def crops(epoch: int | None, source: Any = TRAIN) -> np.ndarray:
    return compute_features(model(), source, crops_of=epoch, cache=False).values


@pytest.mark.parametrize("kind", ["linear", "rotation"])
def test_as_many_copies_as_epochs_are_fresh_crops_to_the_bit(kind: str) -> None:
    fresh = scores("fresh", kind)
    assert fresh == scores(EPOCHS, kind) == scores(EPOCHS + 5, kind)
    assert fresh != scores(1, kind) and fresh != scores(0, kind)


def test_epoch_e_of_k_copies_is_trained_on_the_crops_of_epoch_e_modulo_k() -> None:
    labels, held = TRAIN.labels, {"test": (crops(None, TEST), TEST.labels)}
    by_hand = run_protocol(
        SHORT, lambda epoch: (crops(epoch % 2), labels), held, seeds=(0, 1), classes=3
    )
    mean = 50 * sum(one.top1 for one in by_hand["test"])
    assert scores(2)[0]["accuracy"] == pytest.approx(mean)


def test_crops_are_keyed_by_epoch_and_image_and_are_not_the_center_crop() -> None:
    first = crops(0)
    assert np.array_equal(first, crops(0))
    assert not np.array_equal(first, crops(1)) and not np.array_equal(first, crops(None))
    assert np.array_equal(
        first, compute_features(model(), TRAIN, crops_of=0, cache=False, workers=3).values
    )


def test_cached_copies_are_computed_once_and_new_crops_are_not_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    passes: list[int | None] = []
    compute = inference._compute

    def counting(model: Any, source: Any, crops_of: int | None, *rest: Any) -> Any:
        passes.append(crops_of)
        return compute(model, source, crops_of, *rest)

    monkeypatch.setattr(inference, "_compute", counting)
    scores(2)
    assert passes == [None, 0, 1]
    scores(2)
    assert passes == [None, 0, 1]
    stored = len(list((tmp_path / "cache").rglob("*.npz")))
    scores("fresh")
    assert passes[3:] == [0, 1, 2, 3]
    assert len(list((tmp_path / "cache").rglob("*.npz"))) == stored


def test_a_rotated_image_is_flipped_before_it_is_rotated() -> None:
    """A ramp from left to right, flipped or not, is never one from top to bottom."""
    ramp = np.tile(np.linspace(0, 250, 16, dtype=np.uint8)[:, None], (8, 1, 16))
    pixels = np.repeat(ramp.reshape(8, 16, 16)[..., None], 3, axis=3)
    source = Rotated(ArraySource("ramps", pixels))
    for epoch in range(4):
        shown = crops(epoch, source).reshape(8, 8, 8)
        for image, turns in zip(shown, source.labels, strict=True):
            upright = np.rot90(image, -int(turns))  # brighter downwards, whatever the flip
            assert upright[-1].mean() > upright[0].mean() + 5 / 255


def test_the_result_says_what_was_trained_on() -> None:
    notes = {}
    for views in ("fresh", None, 1, 0):
        result = probe(model(), TRAIN, tests={"test": TEST}, protocol="nsn", seeds=1, views=views)
        assert result.chosen == {} and result.to_dict()["training"] == result.training
        notes[views] = result.training["note"]
    assert "new in every epoch" in notes["fresh"]
    assert "4 cached copies of each image" in notes[None]  # no more than there are epochs
    assert "1 cached copy of each image" in notes[1] and "0.0 MB" in notes[1]
    assert "same in every epoch" in notes[0]


def test_subsets_of_spaces_share_the_crops_and_are_trained_as_each_would_be_alone() -> None:
    halves, given = model(None, ("top", "bottom")), {"protocol": "nsn", "views": 2}
    found = probe_spaces(halves, TRAIN, tests={"test": TEST}, **given)
    assert [result.training["views"] for result in found.values()] == [2, 2, 2]
    whole = probe(model(), TRAIN, tests={"test": TEST}, **given)
    bottom = probe(select_spaces(halves, ["bottom"]), TRAIN, tests={"test": TEST}, **given)
    assert found[("top", "bottom")].scores == whole.scores
    assert found[("bottom",)].scores == bottom.scores
    assert found[("bottom",)].scores != found[("top",)].scores


def test_views_without_a_protocol_and_views_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UsageError, match="protocol"):
        probe(model(), TRAIN, tests={"test": TEST}, views=3)
    for views in ("frsh", -1):
        with pytest.raises(UsageError, match="'views' must be 'fresh' or a number of copies"):
            probe(model(), TRAIN, tests={"test": TEST}, protocol="nsn", views=views)
    with pytest.raises(UsageError, match="unknown key 'views'"):
        probe(model(), TRAIN, "knn", tests={"test": TEST}, views=3)


def test_crops_are_those_of_torchvisions_distribution() -> None:
    """The mean area of the boxes (8 % to 100 % of the image), and half of the images flipped."""
    side = 100
    torch.manual_seed(0)
    crop = v2.RandomResizedCrop(8, scale=(0.08, 1))
    boxes = [crop.make_params([torch.zeros(3, side, side)]) for _ in range(500)]
    expected = np.mean([box["height"] * box["width"] for box in boxes]) / side**2
    columns = np.tile(np.arange(side, dtype=np.uint8)[None, :, None], (side, 1, 3))
    columns[..., 1] = np.arange(side, dtype=np.uint8)[:, None]
    source = ArraySource("columns", np.repeat(columns[None], 300, axis=0))
    shown = LoadedModel(
        "corners", SHOWN, lambda batch: batch[:, :2, [0, -1]][..., [0, -1]].flatten(1), None
    )
    corners = compute_features(shown, source, crops_of=0, cache=False).values.reshape(-1, 2, 2, 2)
    left, right = corners[:, 0, 0, 0], corners[:, 0, 0, 1]
    top, bottom = corners[:, 1, 0, 0], corners[:, 1, 1, 0]
    scale = 255 / side * 8 / 7  # the corners are the centers of the outer eighths
    areas = np.abs(right - left) * scale * np.abs(bottom - top) * scale
    assert float(areas.mean()) == pytest.approx(expected, abs=0.05)
    assert areas.min() < 0.15 and areas.max() > 0.9
    assert float((left > right).mean()) == pytest.approx(0.5, abs=0.08)
    assert (bottom > top).all()
