"""Features: computed once, the same for any number of workers, unreadable images left out."""

import platform
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.small import TINY
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import RunError, UsageError
from unshortcut.inference.features import batch_size, compute_features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import LoadedModel, from_module


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


class Counting:
    """A model that counts its calls, and records whether it was in eval mode."""

    def __init__(self) -> None:
        self.encoder = create_encoder(TINY, 0)
        self.calls = 0
        self.training: list[bool] = []

    def model(self, size: int = 24) -> LoadedModel:
        def features(images: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            self.training.append(self.encoder.training)
            return self.encoder(images)

        return from_module("tiny", self.encoder, Preprocessing(size=size), features=features)


def test_features_are_computed_once_and_in_eval_mode() -> None:
    counting, source = Counting(), Shapes("val", size=32, count=40)
    first = compute_features(counting.model(), source)
    again = compute_features(counting.model(), source)
    assert counting.calls == 1 and counting.training == [False]
    np.testing.assert_array_equal(first.values, again.values)
    np.testing.assert_array_equal(first.labels, source.labels)


def test_other_weights_data_or_preprocessing_are_computed_anew() -> None:
    counting, source = Counting(), Shapes("val", size=32, count=40)
    compute_features(counting.model(), source)
    compute_features(counting.model(), Shapes("val", size=32, count=41))
    compute_features(counting.model(size=32), source)
    with torch.no_grad():
        counting.encoder.model.conv1.weight.add_(1e-3)
    compute_features(counting.model(), source)
    assert counting.calls == 4


def test_an_edit_that_keeps_the_size_of_a_file_is_computed_anew(tmp_path: Path) -> None:
    for index in range(300):  # more than are sampled for the fingerprint
        Image.new("RGB", (8, 8), (index % 256, 0, 0)).save(tmp_path / f"{index:03d}.bmp")
    counting, known = Counting(), open_data(tmp_path).fingerprint()
    compute_features(counting.model(), open_data(tmp_path))
    before = counting.calls
    for index in range(300):
        path = tmp_path / f"{index:03d}.bmp"
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 255]))
        if open_data(tmp_path).fingerprint() == known:
            break
        path.write_bytes(content)
    assert open_data(tmp_path).fingerprint() == known, "the fingerprint does not see it"
    compute_features(counting.model(), open_data(tmp_path))
    assert counting.calls == 2 * before


def test_features_do_not_depend_on_workers_and_match_a_plain_forward() -> None:
    counting, source = Counting(), Shapes("val", size=24, count=10)
    model = from_module("tiny", counting.encoder, Preprocessing(size=24, crop_share=1.0))
    values = compute_features(model, source, cache=False).values
    with_workers = compute_features(model, source, cache=False, workers=2).values
    np.testing.assert_array_equal(values, with_workers)
    pixels = np.stack([source.image(index).pixels() for index in range(10)])
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    mean, std = (
        torch.tensor(v).view(1, 3, 1, 1) for v in (Preprocessing().mean, Preprocessing().std)
    )
    with torch.no_grad():
        expected = counting.encoder((images - mean) / std).numpy()
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_a_model_that_returns_nan_is_said() -> None:
    encoder = create_encoder(TINY, 0)
    model = from_module(
        "broken", encoder, Preprocessing(size=24), features=lambda x: x.mean((2, 3)) / 0
    )
    with pytest.raises(RunError, match="features of 'broken' are not finite"):
        compute_features(model, Shapes("val", size=24, count=4))


def photos(folder: Path, broken: tuple[int, ...] = ()) -> Path:
    """Twelve images of two classes, some of them unreadable."""
    random = np.random.default_rng(0)
    for number in range(12):
        path = folder / ("cat", "dog")[number // 6] / f"{number:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (40, 30 + number, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
        if number in broken:
            path.write_bytes(path.read_bytes()[:60])
    return folder


def test_one_and_three_workers_give_the_same_bits(tmp_path: Path) -> None:
    source = open_data(photos(tmp_path / "data", broken=(2,)))
    model = Counting().model()
    with pytest.warns(UserWarning, match="1 of 12"):
        found = [
            compute_features(model, source, cache=False, workers=workers) for workers in (0, 1, 3)
        ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].values, other.values)
        np.testing.assert_array_equal(found[0].indices, other.indices)
        assert found[0].unreadable == other.unreadable


def test_unreadable_images_are_left_out_with_their_labels_and_listed(tmp_path: Path) -> None:
    counting, source = Counting(), open_data(photos(tmp_path / "data", broken=(2, 3, 4, 9)))
    for _ in range(2):  # computed, and from the cache
        with pytest.warns(UserWarning, match=r"4 of 12 images cannot be read.*02.jpg.*left out"):
            features = compute_features(counting.model(), source)
        assert features.indices.tolist() == [0, 1, 5, 6, 7, 8, 10, 11]
        assert features.required_labels().tolist() == [0] * 3 + [1] * 5
        assert [one.identity for one in features.unreadable] == [
            "cat/02.jpg", "cat/03.jpg", "cat/04.jpg", "dog/09.jpg"
        ]  # fmt: skip
        assert all(one.reason for one in features.unreadable)
    assert counting.calls == 1


def test_a_stated_share_of_unreadable_images_is_noticed_before_the_model_runs(
    tmp_path: Path,
) -> None:
    counting, source = Counting(), open_data(photos(tmp_path / "data", broken=(0, 1)))
    with pytest.raises(UsageError, match=r"2 of 12 images cannot be read.*At most 10\.0%"):
        compute_features(counting.model(), source, max_unreadable=0.1)
    assert counting.calls == 0
    with pytest.warns(UserWarning, match="2 of 12"):
        compute_features(counting.model(), source, max_unreadable=0.2)
    with pytest.raises(UsageError, match="2 of 12"):  # also where the features are cached
        compute_features(counting.model(), source, max_unreadable=0.1)


def test_no_readable_image_is_an_error(tmp_path: Path) -> None:
    source = open_data(photos(tmp_path / "data", broken=tuple(range(12))))
    with pytest.raises(UsageError, match="12 of 12 images cannot be read"):
        compute_features(Counting().model(), source)


def test_models_run_in_inference_mode() -> None:
    modes = []

    def features(images: torch.Tensor) -> torch.Tensor:
        modes.append(torch.is_inference_mode_enabled())
        return images.mean((2, 3))

    model = from_module("mean", torch.nn.Identity(), Preprocessing(size=8), features=features)
    compute_features(model, Shapes("val", size=16, count=3), cache=False)
    assert modes == [True]


def test_batches_are_smaller_for_larger_images() -> None:
    assert [batch_size(size) for size in (32, 112, 160, 224, 448)] == [256, 256, 125, 64, 64]


SCRIPT = """
import resource, torch
from unshortcut.data.shapes import Shapes
from unshortcut.inference.features import compute_features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import from_module

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def features(images):
    for _ in range(5):
        torch.ones(2**24)  # until the heap has its size
    counts = []
    for _ in range(5):
        before = faults()
        torch.ones(2**24)  # 64 MiB: more than glibc keeps by itself
        counts.append(faults() - before)
    print(sorted(counts)[2])
    return images.mean((2, 3))

model = from_module("mean", torch.nn.Identity(), Preprocessing(size=8), features=features)
compute_features(model, Shapes("val", size=16, count=3), cache=False)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="for glibc's allocator")
def test_inference_keeps_freed_memory() -> None:
    """Without it, every block costs its page faults again; the median of five counts."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 2**26 // resource.getpagesize() // 2
