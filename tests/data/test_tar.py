"""Tar files read as the tree that they hold; hostile members are refused."""

import gzip
import io
import multiprocessing
import os
import pickle
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.data.images import png, write_tar, write_tree
from tests.real_data import real_data
from unshortcut.data.folder import open_folder
from unshortcut.data.open import open_data, splits
from unshortcut.data.tarfile_source import TarSource, open_tar
from unshortcut.errors import UsageError

TREE = ["train/cat/1.png", "train/cat/deep/2.png", "train/dog/3.png", "val/dog/4.png"]


def contents(source) -> list[tuple[str, int]]:
    return [
        (source.identity(i), int(source.image(i).pixels()[0, 0, 0])) for i in range(len(source))
    ]


def test_a_tar_file_reads_as_the_folder_it_was_made_of(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", TREE)
    with tarfile.open(tmp_path / "tree.tar", "w") as archive:
        archive.add(tmp_path / "tree", ".")
    for split in ("train", "val"):
        folder, tar = open_folder(tmp_path / "tree", split), open_tar(tmp_path / "tree.tar", split)
        assert contents(tar) == contents(folder)
        assert tar.classes == folder.classes
        assert np.array_equal(tar.labels, folder.labels)
    assert splits(tmp_path / "tree.tar") == splits(tmp_path / "tree") == ("train", "val")


def test_a_wrapping_folder_is_taken_off(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "x.tar", {f"./wrap/{name}": png(1) for name in TREE})
    assert [name for name, _ in contents(open_tar(path, "val"))] == ["val/dog/4.png"]


def test_of_two_members_with_one_name_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for value in (1, 2):
            info = tarfile.TarInfo("a.png")
            info.size = len(png(value))
            archive.addfile(info, io.BytesIO(png(value)))
    assert contents(open_tar(path)) == [("a.png", 2)]


def _first_pixel(source: TarSource) -> int:
    return int(source.image(0).pixels()[0, 0, 0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_source_works_in_forked_and_in_spawned_workers(tmp_path: Path, method: str) -> None:
    source = open_tar(write_tar(tmp_path / "x.tar", {"a.png": png(42)}))
    assert _first_pixel(source) == 42
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_first_pixel, (source,)) == 42
    assert pickle.loads(pickle.dumps(source)).fingerprint() == source.fingerprint()


def test_the_fingerprint_sees_changed_bytes(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "x.tar", {"a.png": png(1), "b.png": png(2)})
    first = open_tar(path).fingerprint()
    write_tar(path, {"a.png": png(1), "b.png": png(3)})
    assert open_tar(path).fingerprint() != first


def test_the_fingerprint_is_that_of_a_copy_elsewhere(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "x.tar", {"a.png": png(1), "b.png": png(2)})
    (tmp_path / "scratch").mkdir()
    copied = Path(shutil.copyfile(path, tmp_path / "scratch" / "x.tar"))
    os.utime(copied, (0, 0))
    assert open_tar(copied).fingerprint() == open_tar(path).fingerprint()


def _link(kind: bytes) -> Callable[[], tarfile.TarInfo]:
    def make() -> tarfile.TarInfo:
        info = tarfile.TarInfo("evil.png")
        info.type = kind
        info.linkname = "/etc/passwd"
        return info

    return make


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tarfile.TarInfo("/etc/evil.png"), "points out of it: '/etc/evil.png'"),
        (lambda: tarfile.TarInfo("a/../../evil.png"), "points out of it: 'a/../../evil.png'"),
        (_link(tarfile.SYMTYPE), "a link, a device or a sparse file: 'evil.png'"),
        (_link(tarfile.LNKTYPE), "a link, a device or a sparse file: 'evil.png'"),
        (_link(tarfile.CHRTYPE), "a link, a device or a sparse file: 'evil.png'"),
        (_link(tarfile.FIFOTYPE), "a link, a device or a sparse file: 'evil.png'"),
    ],
    ids=["absolute", "dots", "symlink", "hard link", "device", "fifo"],
)
def test_hostile_members_are_refused_by_name(
    tmp_path: Path, make: Callable[[], tarfile.TarInfo], words: str
) -> None:
    path = write_tar(tmp_path / "x.tar", {"good.png": png(1)})
    with tarfile.open(path, "a") as archive:
        archive.addfile(make())
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError) as caught:
        open_data(path)
    assert words in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_cut_or_lying_tar_file_is_a_usage_error(tmp_path: Path) -> None:
    whole = write_tar(tmp_path / "x.tar", {"a.png": png(1), "b.png": png(2)}).read_bytes()
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole[: 512 + 20])
    with pytest.raises(UsageError, match="is not a whole tar file"):
        open_data(cut)
    header = tarfile.TarInfo("a.png")
    header.size = -512
    lying = tmp_path / "lying.tar"
    lying.write_bytes(header.tobuf(tarfile.GNU_FORMAT) + whole)
    with pytest.raises(UsageError, match="is not a whole tar file"):
        open_data(lying)


def test_a_compressed_tar_file_asks_to_be_decompressed(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "x.tar", {"a.png": png(1)})
    compressed = tmp_path / "x.tar.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(UsageError, match=r"compressed \(gzip\).*decompress it first"):
        open_data(compressed)


def test_a_tar_file_without_images_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no images in the tar file"):
        open_data(write_tar(tmp_path / "x.tar", {"a.txt": b"words"}))


def test_real_tar_files_have_the_images_their_readme_counts() -> None:
    imagenette = real_data("imagenette-112.tar")
    train, val = open_data(imagenette), open_data(f"{imagenette}@val")
    assert (len(train), len(val)) == (9469, 3925)
    assert train.classes == val.classes
    assert train.classes is not None
    assert len(train.classes) == 10
    assert train.image(5000).pixels().shape == (112, 112, 3)
    pacs = real_data("pacs-96.tar")
    assert [len(open_data(pacs, split=s)) for s in ("photo", "cartoon", "sketch")] == [
        1670,
        2344,
        3929,
    ]
    photos = open_data(real_data("photos.tar"))
    assert len(photos) == 64
    assert photos.labels is None
