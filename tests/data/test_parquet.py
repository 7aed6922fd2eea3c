"""Parquet files of images: what is in them, the order of training, and what is wrong with one."""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra unshortcut[parquet] is missing")

from tests.data.images import png, write_tree  # noqa: E402
from tests.data.parquet import NAMES, write_hub, write_parquet  # noqa: E402
from tests.data.test_loader import plain, same  # noqa: E402
from unshortcut import filter_data  # noqa: E402
from unshortcut.data import blocks, parquet_source  # noqa: E402
from unshortcut.data.loader import ViewLoader  # noqa: E402
from unshortcut.data.open import open_data, splits  # noqa: E402
from unshortcut.data.parquet_source import ParquetSource  # noqa: E402
from unshortcut.data.scan import readable, scan  # noqa: E402
from unshortcut.data.source import BadImageError, ImageSource  # noqa: E402
from unshortcut.errors import UsageError  # noqa: E402


def gray(source: ImageSource) -> list[int]:
    return [int(source.image(index).pixels()[0, 0, 0]) for index in range(len(source))]


def labels(source: ImageSource) -> list[int]:
    assert source.labels is not None
    return source.labels.tolist()


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return write_hub(tmp_path / "hub")


def test_a_folder_of_files_has_splits_classes_and_images_in_order(hub: Path) -> None:
    assert splits(hub) == ("train", "val")
    train, val = open_data(hub), open_data(f"{hub}@val")
    assert gray(train) == list(range(17)) and gray(val) == [20, 21, 22, 23]
    assert train.classes == NAMES and labels(train) == [row % 3 for row in range(17)]
    assert labels(val) == [2, 1, 0, 0]
    assert train.identity(11) == "train/fox/train-00001-of-00002-000001"
    assert gray(open_data(f"{hub}@train+val")) == [*range(17), 20, 21, 22, 23]
    assert gray(open_data(f"parquet:{hub}@val")) == [20, 21, 22, 23]


def test_files_can_be_given_one_by_one_or_as_a_range(hub: Path) -> None:
    assert gray(open_data(hub / "data/train-00001-of-00002.parquet")) == list(range(10, 17))
    pattern = f"{hub}/data/train-{{00000..00001}}-of-00002.parquet"
    assert gray(open_data(pattern)) == list(range(17)) and splits(pattern) == ()
    with pytest.raises(UsageError, match=r"no such shard: .*train-00002-of-00002\.parquet"):
        open_data(f"{hub}/data/train-{{00000..00002}}-of-00002.parquet")


@pytest.mark.parametrize(
    ("file", "split"),
    [
        ("train.parquet", "train"),
        ("test/0000.parquet", "test"),
        ("data/valid_part.parquet", "val"),
        ("test_sketch-00000-of-00001-0123456789abcdef.parquet", "test_sketch"),
        ("photos.parquet", "all"),
    ],
)
def test_the_split_is_in_the_name_of_a_file_or_folder(
    tmp_path: Path, file: str, split: str
) -> None:
    write_parquet(tmp_path / file, [1, 2], [0, 1])
    assert splits(tmp_path) == (split,)
    assert gray(open_data(tmp_path)) == [1, 2]


def test_images_may_be_plain_bytes_and_labels_names_or_numbers(tmp_path: Path) -> None:
    """Names are numbered over all splits, so that they mean the same in each."""
    words = pa.array(["fox", "cat", "fox"]).dictionary_encode()
    write_parquet(tmp_path / "a/train.parquet", [1, 2, 3], words, names=None, struct=False)
    write_parquet(tmp_path / "a/test.parquet", [4], ["dog"], names=None, struct=False)
    train = open_data(tmp_path / "a")
    assert gray(train) == [1, 2, 3]
    assert train.classes == ("cat", "dog", "fox") and labels(train) == [2, 0, 2]
    write_parquet(tmp_path / "b.parquet", [5, 6], [0, 3], names=None, column="img")
    numbered = open_data(tmp_path / "b.parquet")
    assert numbered.classes == ("0", "1", "2", "3") and labels(numbered) == [0, 3]


def test_images_without_labels_are_a_data_set_too(tmp_path: Path) -> None:
    for name, values in (("none", None), ("minus", [-1, -1])):
        source = open_data(write_parquet(tmp_path / f"{name}.parquet", [1, 2], values))
        assert source.labels is None and source.classes is None and gray(source) == [1, 2]
        assert source.identity(1) == f"{name}-000001"


def test_a_table_beside_images_does_not_make_a_folder_of_parquet_files(tmp_path: Path) -> None:
    write_tree(tmp_path, ["cat/1.png", "dog/2.png"])
    table = pa.table({"identity": ["cat/1.png"], "features": [[0.5]]})
    pa.parquet.write_table(table, tmp_path / "features.parquet")
    assert len(open_data(tmp_path)) == 2


def test_bad_rows_are_listed_and_left_out(tmp_path: Path) -> None:
    """No bytes, bytes that are no image, a label out of range, and none at all."""
    images = [1, None, b"nonsense", 4, 5, 6, 7, 8, 9, 10]
    path = write_parquet(tmp_path / "x.parquet", images, [0, 1, 2, 7, None, 0, -3, 1, 2, 0])
    source = open_data(path)
    report = scan(source, seed=0)
    assert {one.identity: one.reason for one in report.bad} == {
        "dog/x-000001": "the row has no bytes of an image",
        "fox/x-000002": "not an image in a known format",
        "x-000003": "its label is none of the 3 classes",
        "x-000004": "it has no label, and others have one",
        "x-000006": "its label is none of the 3 classes",
    }
    assert gray(readable(source, report)) == [1, 6, 8, 9, 10]


def test_a_damaged_row_group_costs_its_own_images_only(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "x.parquet", range(12), [0] * 12)
    place = pa.parquet.ParquetFile(path).metadata.row_group(1).column(0)
    content = bytearray(path.read_bytes())
    first = place.dictionary_page_offset or place.data_page_offset
    content[first : first + 8] = b"\xff" * 8
    path.write_bytes(content)
    report = scan(open_data(path), seed=0)
    assert report.bad_indices.tolist() == [4, 5, 6, 7]
    assert "row group 1 cannot be read" in report.bad[0].reason


def test_a_truncated_file_is_one_sentence(hub: Path) -> None:
    path = hub / "data/train-00001-of-00002.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UsageError, match=r"train-00001-of-00002\.parquet is not a whole Parquet"):
        open_data(hub)


def test_a_file_that_is_missing_from_a_series_is_said(hub: Path) -> None:
    (hub / "data/train-00000-of-00002.parquet").unlink()
    with pytest.warns(UserWarning, match="train has 1 of its 2 Parquet files; number 0 is missing"):
        assert gray(open_data(hub)) == list(range(10, 17))


def table(**columns: Any) -> Any:
    return pa.table(columns)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (table(text=["a"]), r"no column of images: .* its columns are text"),
        (table(a=[b"x"], b=[b"y"]), r"several columns of bytes: .* its columns are a, b"),
        (table(image=[{"path": "1.png"}]), r"no column of images"),
        (table(image=pa.array([], pa.binary())), r"no images in .*x\.parquet"),
        (table(image=[b"x"], label=[2_000_000]), r"from 0 to 999999, not 2000000"),
    ],
)
def test_a_file_without_images_names_its_columns(
    tmp_path: Path, content: Any, message: str
) -> None:
    pa.parquet.write_table(content, tmp_path / "x.parquet")
    with pytest.raises(UsageError, match=message):
        open_data(tmp_path / "x.parquet")


def test_labels_of_another_type_are_left_with_a_warning(tmp_path: Path) -> None:
    pa.parquet.write_table(table(image=[png(1)], label=[[1, 2]]), tmp_path / "x.parquet")
    with pytest.warns(UserWarning, match="'label' of x.parquet is not used: labels are numbers"):
        assert open_data(tmp_path / "x.parquet").labels is None


def test_files_that_name_their_classes_differently_are_refused(hub: Path) -> None:
    write_parquet(hub / "data/train-00001-of-00002.parquet", [1], [0], names=("dog", "cat"))
    with pytest.raises(UsageError, match="name their classes differently"):
        open_data(hub)


def test_without_pyarrow_the_extra_is_named(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UsageError, match=r"pip install 'unshortcut\[parquet\]'"):
        open_data(write_parquet(hub / "new-00000-of-00001.parquet", [1], [0]).parent)


def test_the_fingerprint_is_that_of_the_content(hub: Path) -> None:
    first = open_data(hub)
    assert first.fingerprint() == pickle.loads(pickle.dumps(first)).fingerprint()
    assert first.fingerprint() != open_data(f"{hub}@val").fingerprint()
    before = first.fingerprint()
    for path in hub.rglob("*.parquet"):
        os.utime(path, (0, 0))  # as after copying it to another machine
    assert open_data(hub).fingerprint() == before
    write_parquet(hub / "data/train-00001-of-00002.parquet", range(11, 18), [0] * 7)
    assert open_data(hub).fingerprint() != first.fingerprint()


@pytest.fixture
def small_window(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two row groups of the five of the training images fit into a window."""
    stored = open_data(hub).blocks
    assert stored is not None and len(stored.sizes) == 5
    monkeypatch.setattr(blocks, "WINDOW_BYTES", int(2 * stored.sizes[0]))


def loader(hub: Path, workers: int = 0, **options: Any) -> ViewLoader:
    return ViewLoader(open_data(hub), plain, batch_size=4, seed=7, workers=workers, **options)


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_are_the_same_with_any_number_of_workers(
    hub: Path, small_window: None, workers: int
) -> None:
    one, several = loader(hub), loader(hub, workers)
    try:
        for epoch in range(2):
            one.sampler.set_epoch(epoch)
            several.sampler.set_epoch(epoch)
            pairs = list(zip(one, several, strict=True))
            assert len(pairs) == 4 and all(same(*pair) for pair in pairs)
            for batch, _ in pairs:
                assert batch["views"]["view"][:, 0, 0, 0].tolist() == batch["index"].tolist()
    finally:
        several.close()


def test_two_ranks_see_the_batches_of_one_process(hub: Path, small_window: None) -> None:
    single = [batch["index"].tolist() for batch in loader(hub)]
    ranks = [
        [batch["index"].tolist() for batch in loader(hub, rank=rank, world=2)] for rank in (0, 1)
    ]
    assert [one + other for one, other in zip(*ranks, strict=True)] == single


@pytest.mark.parametrize("workers", [0, 2])
def test_a_resumed_run_goes_on_with_the_next_batch(
    hub: Path, small_window: None, workers: int
) -> None:
    whole = [batch["index"].tolist() for batch in loader(hub)]
    first = loader(hub, workers)
    batches = iter(first)
    seen = [next(batches)["index"].tolist() for _ in range(2)]
    state = first.state_dict()
    first.close()
    second = loader(hub, workers)
    second.load_state_dict(state)
    rest = [batch["index"].tolist() for batch in second]
    second.close()
    assert seen + rest == whole


def test_an_epoch_reads_each_row_group_once_and_keeps_few(
    hub: Path, small_window: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, int]] = []
    kept: list[int] = []
    cache = parquet_source._Cache
    original = cache._read

    def counted(self: Any, file: Any, group: int) -> Any:
        read.append((file.path.name, group))
        kept.append(sum(column.nbytes for column in self._columns.values()))
        return original(self, file, group)

    monkeypatch.setattr(cache, "_read", counted)
    source = open_data(hub)
    assert isinstance(source, ParquetSource)
    batches = list(ViewLoader(source, plain, batch_size=1, seed=7))
    assert len(batches) == 17
    assert sorted(read) == sorted(set(read)) and len(read) == 5
    assert max(kept) <= blocks.WINDOW_BYTES
    read.clear()
    for index in sorted(range(17), key=lambda index: index % 4):
        source.image(index)
    assert len(read) > 5, "another order reads row groups again"


def test_threads_share_what_is_read(hub: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    source = open_data(hub)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda index: int(source.image(index).pixels()[0, 0, 0]), range(17)))
    assert found == list(range(17))


def test_a_copy_is_a_folder_with_the_same_splits_and_classes(hub: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    filter_data(hub, copy, "gaussian", format="png")
    assert splits(copy) == ("train", "val")
    copied = open_data(copy)
    assert copied.classes == NAMES and len(copied) == 17
    assert (copy / "train/fox/train-00001-of-00002-000001.png").is_file()
    from unshortcut.data.copies import CopiedSource, open_copy

    found = CopiedSource(open_data(hub), open_copy(str(copy)))
    assert gray(found) == list(range(17))


def test_reading_stops_at_a_missing_file(hub: Path) -> None:
    source = open_data(hub)
    (hub / "data/train-00000-of-00002.parquet").unlink()
    with pytest.raises(BadImageError, match="row group 0 cannot be read"):
        source.image(0)
    assert source.image(12).pixels()[0, 0, 0] == 12
