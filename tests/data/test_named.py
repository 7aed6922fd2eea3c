"""Data sets by name: torchvision's content comes through, and errors say what to do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torchvision

from tests.data.images import write_tree
from unshortcut.data.open import open_data, splits
from unshortcut.errors import RunError, UsageError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_cifar_and_stl_keep_their_pixels_and_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)

    class Cifar:
        classes = ("cat", "dog")

        def __init__(self, root: str, train: bool, download: bool) -> None:
            self.data = pixels if train else pixels[:1]
            self.targets = [1, 0, 1, 0] if train else [1]

    class Stl:
        classes = ("cat", "dog")

        def __init__(self, root: str, split: str, download: bool) -> None:
            self.data = pixels.transpose(0, 3, 1, 2)
            self.labels = np.array([0, 1, 0, 1] if split == "train" else [-1] * 4)

    monkeypatch.setattr(torchvision.datasets, "CIFAR10", Cifar)
    monkeypatch.setattr(torchvision.datasets, "STL10", Stl)
    cifar = open_data("cifar10")
    assert np.array_equal(cifar.image(2).pixels(), pixels[2])
    assert cifar.labels is not None
    assert cifar.labels.tolist() == [1, 0, 1, 0]
    assert cifar.classes == ("cat", "dog")
    assert len(open_data("cifar10@test")) == 1
    assert open_data("cifar10@test").fingerprint() != cifar.fingerprint()
    stl = open_data("stl10")
    assert np.array_equal(stl.image(3).pixels(), pixels[3])
    assert open_data("stl10@unlabeled").labels is None


def test_named_splits_are_joined_unless_there_is_a_split_of_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    class Flowers:
        classes = ("rose", "iris")

        def __init__(self, root: str, split: str, download: bool) -> None:
            asked.append(split)
            self.root = Path(root)
            self._image_files = [Path(root) / f"{split}{number}.jpg" for number in range(2)]
            self._labels = [0, 1]

    class Stl:
        classes = ("cat", "dog")

        def __init__(self, root: str, split: str, download: bool) -> None:
            asked.append(split)
            self.data = np.zeros((2, 3, 96, 96), dtype=np.uint8)
            self.labels = np.array([0, 1])

    monkeypatch.setattr(torchvision.datasets, "Flowers102", Flowers)
    monkeypatch.setattr(torchvision.datasets, "STL10", Stl)
    pool = open_data("flowers102@train+val")
    names = ["train0.jpg", "train1.jpg", "val0.jpg", "val1.jpg"]
    assert [pool.identity(index) for index in range(len(pool))] == names
    assert pool.labels is not None and pool.labels.tolist() == [0, 1, 0, 1]
    open_data("stl10@train+unlabeled")
    assert asked == ["train", "val", "train+unlabeled"]


def test_gray_data_come_as_rgb(monkeypatch: pytest.MonkeyPatch) -> None:
    gray = np.arange(2 * 28 * 28, dtype=np.uint8).reshape(2, 28, 28)

    class Mnist:
        classes = ("0", "1")

        def __init__(self, root: str, train: bool, download: bool) -> None:
            self.data, self.targets = gray, [0, 1]

    monkeypatch.setattr(torchvision.datasets, "MNIST", Mnist)
    shown = open_data("mnist").image(1).pixels()
    assert shown.shape == (28, 28, 3)
    assert (shown == gray[1][:, :, None]).all()


def test_imagenette_is_read_from_its_files_by_torchvision_itself(cache: Path) -> None:
    root = cache / "datasets"
    names = ["imagenette2/train/n01440764/1.jpeg", "imagenette2/train/n02102040/2.jpeg"]
    values = write_tree(root, [*names, "imagenette2/val/n01440764/3.jpeg"])
    source = open_data("imagenette")
    assert source.classes == ("tench", "English springer")
    assert source.labels is not None
    assert source.labels.tolist() == [0, 1]
    assert [source.identity(i) for i in range(2)] == names
    assert (source.image(1).pixels() == values[names[1]]).all()
    assert len(open_data("imagenette@val")) == 1


def test_where_a_download_is_impossible_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Offline:
        def __init__(self, root: str, download: bool, **arguments: Any) -> None:
            raise OSError("<urlopen error no network>") if download else RuntimeError("not found")

    monkeypatch.setattr(torchvision.datasets, "CIFAR10", Offline)
    with pytest.raises(RunError, match=r"cifar10 is not in the cache.*no network.*give a folder"):
        open_data("cifar10")


def test_a_strangers_pickle_in_the_cache_is_never_loaded(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CIFAR's files are pickles; one without the published checksum is refused unread."""

    def offline(*_: Any, **__: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(torchvision.datasets.cifar, "download_and_extract_archive", offline)
    fired = cache / "fired"
    folder = cache / "datasets" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    hostile = f"cos\nsystem\n(S'touch {fired}'\ntR.".encode()
    cifar = torchvision.datasets.CIFAR10
    for name, _ in (*cifar.train_list, *cifar.test_list, ("batches.meta", "")):
        (folder / name).write_bytes(hostile)
    with pytest.raises(RunError, match="no network"):
        open_data("cifar10")
    assert not fired.exists()


def test_every_named_set_of_torchvision_exists_there() -> None:
    from unshortcut.data import named

    for entry in named._TORCHVISION.values():
        assert hasattr(torchvision.datasets, entry.class_name)


def test_shapes_open_with_options() -> None:
    source = open_data("shapes", size=32, count=5, seed=3)
    assert len(source) == 5
    assert source.image(0).pixels().shape == (32, 32, 3)
    assert "conflict" in splits("shapes")
    other = open_data("shapes-palette@val", size=32, count=5, seed=3)
    assert other.fingerprint() != source.fingerprint()


def test_errors_name_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'cifar10'"):
        open_data("cifr10")
    with pytest.raises(UsageError, match="unknown split of cifar10 'tst'; did you mean 'test'"):
        open_data("cifar10@tst")
    with pytest.raises(UsageError, match="takes no options, but got size"):
        open_data("cifar10", size=32)
    for name in ("imagenet", "imagenet100", "ImageNet-1k"):
        with pytest.raises(UsageError, match="give --data the folder"):
            open_data(name)
