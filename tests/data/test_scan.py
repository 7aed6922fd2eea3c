"""The look at the data before training: what is found, and when it stops a run."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.data.images import png, write_tree
from unshortcut.data.encoded import HEADER_BYTES
from unshortcut.data.failures import Failure, FailureLog
from unshortcut.data.folder import FolderSource, open_folder
from unshortcut.data.scan import readable, scan
from unshortcut.data.source import Subset
from unshortcut.errors import UsageError


def folder_with(tmp_path: Path, whole: int, empty: int) -> FolderSource:
    write_tree(tmp_path, [f"{i:04d}.png" for i in range(whole)])
    for i in range(empty):
        (tmp_path / f"bad-{i:04d}.png").write_bytes(b"")
    return open_folder(tmp_path)


def test_bad_headers_are_found_without_decoding_anything(tmp_path: Path) -> None:
    source = folder_with(tmp_path, whole=150, empty=3)
    seen: list[tuple[int, int]] = []
    report = scan(source, seed=0, sample=0, on_progress=lambda *step: seen.append(step))
    assert [failure.identity for failure in report.bad] == [f"bad-{i:04d}.png" for i in range(3)]
    assert all(failure.reason for failure in report.bad)
    assert seen[-1] == (153, 153)
    assert seen == sorted(seen)
    rest = readable(source, report)
    assert len(rest) == 150
    assert not any(rest.identity(i).startswith("bad") for i in range(150))


def test_headers_are_read_through_a_subset(tmp_path: Path) -> None:
    source = folder_with(tmp_path, whole=4, empty=2)
    chosen = Subset(source, np.array([1, 5]))  # sorted: 0000 … 0003, bad-0000, bad-0001
    report = scan(chosen, seed=0, sample=0)
    assert report.bad_indices.tolist() == [1]
    assert report.bad[0].identity == "bad-0001.png"


def test_only_the_head_of_a_large_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large.png").write_bytes(png(1) + os.urandom(10 * HEADER_BYTES))
    source = open_folder(tmp_path)
    limits: list[int | None] = []
    read = FolderSource.read
    monkeypatch.setattr(
        FolderSource,
        "read",
        lambda self, i, limit=None: limits.append(limit) or read(self, i, limit),
    )
    assert scan(source, seed=0, sample=0).bad == ()
    assert limits == [HEADER_BYTES]


def test_a_sample_is_decoded_and_stands_for_the_rest(tmp_path: Path) -> None:
    write_tree(tmp_path, [f"{i:03d}.png" for i in range(100)])
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole.png")
    whole = (tmp_path / "whole.png").read_bytes()
    for i in range(50):
        (tmp_path / f"{i:03d}.png").write_bytes(whole[: len(whole) // 2])
    source = open_folder(tmp_path)
    report = scan(source, seed=1, sample=40)
    assert 5 < len(report.bad) < 40
    assert report.bad_share == pytest.approx(len(report.bad) / 40)
    assert scan(source, seed=1, sample=40).bad == report.bad
    assert scan(source, seed=2, sample=40).bad != report.bad
    everything = scan(source, seed=1, sample=1000)
    assert [failure.identity for failure in everything.bad] == [f"{i:03d}.png" for i in range(50)]


def test_more_than_a_tenth_bad_stops_with_the_list(tmp_path: Path) -> None:
    scan(folder_with(tmp_path / "few", whole=108, empty=12), seed=0).check()
    report = scan(folder_with(tmp_path / "many", whole=107, empty=13), seed=0)
    with pytest.raises(UsageError) as caught:
        report.check()
    lines = str(caught.value).splitlines()
    assert "about 11% of the 120 images cannot be read" in lines[0]
    assert "13 were found" in lines[0]
    assert lines[1].strip().startswith("bad-0000.png: ")
    assert lines[-1].strip() == "and 3 more"


def test_a_folder_of_bad_images_alone_stops(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of the 2 images can be read"):
        scan(folder_with(tmp_path, whole=0, empty=2), seed=0).check(max_share=1)


def test_a_failure_is_listed_once_over_all_parts_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "skipped.jsonl"
    log = FailureLog(path)
    assert not path.exists()
    assert log.add([("a.png", "empty"), ("ü.png", "cut"), ("a.png", "empty")]) == [
        Failure("a.png", "empty"),
        Failure("ü.png", "cut"),
    ]
    assert log.add([("a.png", "empty")]) == []
    resumed = FailureLog(path)
    assert list(resumed) == [Failure("a.png", "empty"), Failure("ü.png", "cut")]
    resumed.add([("b.png", "late")])
    assert list(FailureLog(path)) == [*log, Failure("b.png", "late")]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_all_bad_annotations_of_an_image_are_listed(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "skipped.jsonl")
    log.add([("a.png", "a box without area"), ("a.png", "a box outside")])
    assert [one.reason for one in FailureLog(log.path)] == ["a box without area", "a box outside"]
