"""Models as timm users expect: a transform, feature maps, and features in memory or in a file."""

import builtins
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import unshortcut
from tests.small import TINY
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.inference.features import compute_features
from unshortcut.inference.preprocessing import Preprocessing, normalize, stack
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import LoadedModel, from_module, from_object, load_model

SHOWN = Preprocessing(size=24)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def model() -> LoadedModel:
    encoder = create_encoder(TINY, 0)
    return from_module("tiny", encoder, SHOWN, maps=encoder.feature_maps)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of three PNG files, one of them broken, and a JPEG file in each."""
    random = np.random.default_rng(0)
    for name in ("cat", "dog"):
        (tmp_path / "images" / name).mkdir(parents=True)
        for number in range(4):
            pixels = random.integers(0, 256, (50, 40, 3), dtype=np.uint8)
            ending = "jpg" if number == 3 else "png"
            Image.fromarray(pixels).save(tmp_path / "images" / name / f"{number}.{ending}")
    (tmp_path / "images" / "dog" / "1.png").write_bytes(b"no image")
    return tmp_path / "images"


def test_the_transform_gives_the_pixels_of_the_loop(model: LoadedModel, folder: Path) -> None:
    source = open_data(folder)
    seen = []
    spy = from_module(
        "spy", nn.Identity(), SHOWN, features=lambda images: seen.append(images) or images
    )
    with pytest.warns(UserWarning, match="1 of 8"):
        found = compute_features(spy, source, cache=False)
    paths = [folder / source.identity(index) for index in found.indices.tolist()]
    assert torch.equal(torch.stack([model.transform(path) for path in paths]), seen[0])
    png = paths[0]
    for same in (str(png), Image.open(png), np.asarray(Image.open(png))):
        assert torch.equal(model.transform(same), seen[0][0])
    assert model.transform(png).shape == (3, 24, 24)
    assert model.transform(png).is_contiguous()


def test_the_transform_turns_a_pil_image_upright_and_puts_it_on_white(model: LoadedModel) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    image.getexif()[0x0112] = 6  # the camera was rotated
    upright = np.ascontiguousarray(np.rot90(pixels, -1))
    assert torch.equal(model.transform(image), model.transform(upright))
    clear = Image.new("RGBA", (30, 30), (200, 10, 10, 0))
    white = np.full((30, 30, 3), 255, np.uint8)
    assert torch.equal(model.transform(clear), model.transform(white))


def test_the_transform_can_be_sent_to_workers(model: LoadedModel, folder: Path) -> None:
    again = pickle.loads(pickle.dumps(model.transform))
    path = folder / "cat" / "0.png"
    assert torch.equal(again(path), model.transform(path))


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ("dog/1.png", "cannot be read"),
        ("nowhere.png", "cannot be read: No such file"),
        (np.zeros((4, 4, 3)), r"uint8 of the shape \(H, W, 3\), not float64"),
        (np.zeros((4, 4), np.uint8), r"not uint8 \(4, 4\)"),
        (3, "not a int"),
    ],
)
def test_what_is_no_image_is_told(
    model: LoadedModel, folder: Path, image: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        model.transform(folder / image if isinstance(image, str) else image)


def test_images_at_hand_and_data_have_the_same_features(model: LoadedModel, folder: Path) -> None:
    paths = sorted((folder / "cat").iterdir())
    by_path = model.embed(paths)
    assert by_path.values.shape == (4, create_encoder(TINY, 0).dim)
    assert by_path.identities == tuple(map(str, paths))
    with pytest.warns(UserWarning):
        from_data = model.embed(folder)
    np.testing.assert_allclose(from_data.values[:4], by_path.values, atol=1e-6)
    assert from_data.identities is not None
    assert from_data.identities[4:] == ("dog/0.png", "dog/2.png", "dog/3.jpg")
    assert from_data.required_labels().tolist() == [0] * 4 + [1] * 3
    arrays = [np.asarray(Image.open(path)) for path in paths[:3]]
    tensor = torch.from_numpy(np.stack(arrays)).permute(0, 3, 1, 2)
    batch = torch.stack([model.transform(path) for path in paths[:3]])
    for same in (arrays, np.stack(arrays), [Image.open(p) for p in paths[:3]], tensor, batch):
        np.testing.assert_allclose(model.embed(same).values, by_path.values[:3], atol=1e-6)
    np.testing.assert_allclose(model.embed(arrays[0]).values, by_path.values[:1], atol=1e-6)
    np.testing.assert_allclose(model.features(batch).numpy(), by_path.values[:3], atol=1e-6)


def test_an_empty_list_or_an_odd_tensor_is_refused(model: LoadedModel) -> None:
    with pytest.raises(UsageError, match="no image in the list"):
        model.embed([])
    with pytest.raises(UsageError, match=r"must have the shape \(N, 3, H, W\)"):
        model.embed(torch.zeros(2, 8, 8, 3, dtype=torch.uint8))


def test_embed_writes_only_where_it_is_told_to(
    model: LoadedModel, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.warns(UserWarning, match="1 of 8"):
        features = unshortcut.embed(model, folder)
    assert list(Path().iterdir()) == []
    with pytest.warns(UserWarning, match="1 of 8"):
        unshortcut.embed(model, folder, "deep/features.npz")
    with np.load("deep/features.npz") as stored:
        np.testing.assert_array_equal(stored["features"], features.values)
        assert stored["identities"].tolist() == list(features.identities or ())
        assert stored["labels"].tolist() == [0] * 4 + [1] * 3
        assert stored["classes"].tolist() == ["cat", "dog"]
    listed = Path("deep/features.unreadable.jsonl")
    assert json.loads(listed.read_text()) == {
        "identity": "dog/1.png",
        "reason": "not an image in a known format",
    }
    (folder / "dog" / "1.png").unlink()
    unshortcut.embed(model, folder, "deep/features.npz")
    assert not listed.exists()


def test_parquet_holds_a_row_for_every_image(
    model: LoadedModel, folder: Path, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "dog" / "1.png").unlink()
    features = unshortcut.embed(model, folder, tmp_path / "features.parquet")
    table = parquet.read_table(tmp_path / "features.parquet")
    assert table.column_names == ["identity", "label", "class", "features"]
    np.testing.assert_array_equal(np.array(table["features"].to_pylist()), features.values)
    assert table["identity"].to_pylist() == list(features.identities or ())
    assert table["label"].to_pylist() == [0] * 4 + [1] * 3
    assert table["class"].to_pylist() == ["cat"] * 4 + ["dog"] * 3


def test_parquet_without_pyarrow_and_other_files_are_refused_before_the_work(
    model: LoadedModel, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"an \.npz or \.parquet file, not to 'x\.csv'"):
        unshortcut.embed(model, folder, "x.csv")
    plain = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match="needs pyarrow: pip install pyarrow"):
        unshortcut.embed(model, folder, tmp_path / "features.parquet")


def test_feature_maps_pool_to_the_features() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    for spec in ("timm:resnet18@random", "torchvision:resnet18@random"):
        model = load_model(spec, size=32)
        batch = normalize(stack([pixels]), model.preprocessing)
        maps = model.feature_maps(batch)
        assert maps.shape == (1, 512, 1, 1) and not maps.requires_grad
        torch.testing.assert_close(maps.mean((2, 3)), model.features(batch))


def test_a_vision_transformer_has_tokens_and_torchvision_s_own_maps_are_found() -> None:
    vit = load_model("timm:vit_tiny_patch16_224@random")
    assert vit.feature_maps(torch.zeros(1, 3, 224, 224)).shape == (1, 197, 192)
    mobile = load_model("torchvision:mobilenet_v2@random", size=64)
    assert mobile.feature_maps(torch.zeros(1, 3, 64, 64)).shape == (1, 1280, 2, 2)


def test_a_model_without_feature_maps_is_told_and_one_s_own_are_used() -> None:
    batch = torch.zeros(1, 3, 8, 8)
    with pytest.raises(UsageError, match="'mine' has no feature maps"):
        from_object(lambda images: images.mean((2, 3)), "mine").feature_maps(batch)

    class Mine(nn.Module):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.feature_maps(images).mean((2, 3))

        def feature_maps(self, images: torch.Tensor) -> torch.Tensor:
            return images + 1

    assert torch.equal(from_object(Mine(), "mine").feature_maps(batch), batch + 1)


def test_using_a_model_imports_no_lightning() -> None:
    script = (
        "import sys, torch, unshortcut\n"
        "model = unshortcut.load_model('timm:resnet18@random', size=32)\n"
        "unshortcut.embed(model, torch.zeros(1, 3, 32, 32))\n"
        "print([name for name in sys.modules if name.split('.')[0].startswith('lightning')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
