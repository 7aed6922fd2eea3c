"""Probing from model and data: features once and cached, classes checked, test split by default."""

from pathlib import Path

import pytest
import torch
from PIL import Image

from tests.small import TINY
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import LoadedModel, from_module
from unshortcut.probes.run import probe


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


def tiny() -> LoadedModel:
    return from_module("tiny", create_encoder(TINY, 0), Preprocessing(size=24))


@pytest.mark.parametrize("kind", ["knn", "linear"])
def test_a_perfect_and_a_blind_encoder_are_told_apart(kind: str) -> None:
    """Features that are the label's one-hot score 100, constant ones score chance."""
    train, test = Shapes("train", size=16, count=400), Shapes("test", size=16, count=200)
    answers = {}
    for source in (train, test):
        for index in range(len(source)):
            pixels = source.image(index).pixels()
            answers[pixels.tobytes()] = int(source.shape_labels[index])

    def oracle(images: torch.Tensor) -> torch.Tensor:
        pixels = ((images * std + mean) * 255).round().to(torch.uint8).permute(0, 2, 3, 1)
        labels = [answers[image.contiguous().numpy().tobytes()] for image in pixels]
        return torch.nn.functional.one_hot(torch.tensor(labels), 8).float()

    mean, std = (
        torch.tensor(v).view(1, 3, 1, 1) for v in (Preprocessing().mean, Preprocessing().std)
    )
    encoder = create_encoder(TINY, 0)
    shown = Preprocessing(size=16, crop_share=1.0)
    perfect = from_module("perfect", encoder, shown, features=oracle)
    assert probe(perfect, train, kind, tests={"test": test}).scores["test"].mean == 100
    blind = from_module(
        "blind", create_encoder(TINY, 1), shown, features=lambda x: torch.ones(len(x), 3)
    )
    assert probe(blind, train, kind, tests={"test": test}).scores["test"].mean < 30


def save(folder: Path, split: str, classes: tuple[str, ...]) -> None:
    for number, name in enumerate(classes):
        (folder / split / name).mkdir(parents=True)
        for index in range(6):
            color = (40 * index, 120 * number, 90)
            Image.new("RGB", (24, 24), color).save(folder / split / name / f"{index}.png")


def test_the_test_split_is_the_default_and_val_where_there_is_none(tmp_path: Path) -> None:
    save(tmp_path / "a", "train", ("cat", "dog"))
    save(tmp_path / "a", "val", ("cat", "dog"))
    model = tiny()
    assert list(probe(model, tmp_path / "a", "knn", k=(1,)).scores) == ["val"]
    save(tmp_path / "a", "test", ("cat", "dog"))
    assert list(probe(model, tmp_path / "a", "knn", k=(1,)).scores) == ["test"]


def test_images_that_are_fitted_on_are_never_the_default_test(tmp_path: Path) -> None:
    for split in ("train", "val", "test"):
        save(tmp_path / "a", split, ("cat", "dog"))

    def tested(data: str) -> list[str]:
        return list(probe(tiny(), f"{tmp_path}/a@{data}", "knn", k=(1,)).scores)

    assert tested("train") == tested("train+val") == ["test"]
    assert tested("train+test") == ["val"]
    with pytest.raises(UsageError, match="has no 'test' or 'val' split"):
        tested("val+test")


def test_what_cannot_be_probed_is_said(tmp_path: Path) -> None:
    model = tiny()
    save(tmp_path / "a", "train", ("cat", "dog"))
    with pytest.raises(UsageError, match="has no 'test' or 'val' split"):
        probe(model, tmp_path / "a", "knn")
    save(tmp_path / "b", "test", ("cat", "horse"))
    with pytest.raises(UsageError, match="other classes than the training data: horse;"):
        probe(model, tmp_path / "a", "knn", tests=[tmp_path / "b"])
    with pytest.raises(UsageError, match="unknown kind of probe 'cnn'; did you mean 'knn'"):
        probe(model, tmp_path / "a", "cnn")
    with pytest.raises(UsageError, match="unknown key 'seed'; did you mean 'seeds'"):
        probe(model, tmp_path / "a", "linear", seed=3)
    flat = tmp_path / "flat"
    flat.mkdir()
    Image.new("RGB", (8, 8)).save(flat / "a.png")
    assert open_data(flat).labels is None
    with pytest.raises(UsageError, match="has no labels: a classifier needs class folders"):
        probe(model, flat, "knn", tests=["shapes@test"])


def test_test_sets_with_one_short_name_keep_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(tmp_path / name, "train", ("cat", "dog"))
        save(tmp_path / name, "val", ("cat", "dog"))
    tests = [f"{tmp_path}/a@val", f"{tmp_path}/b@val"]
    scores = probe(tiny(), tmp_path / "a", "knn", tests=tests, k=(1,)).scores
    assert list(scores) == ["a@val", "b@val"]
    again = probe(tiny(), tmp_path / "a", "knn", tests=[f"{tmp_path}/a@train"], k=(1,)).scores
    assert again["train"].mean == 100
