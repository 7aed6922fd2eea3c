"""Resuming: existing copies are kept, missing and truncated ones made, other settings rejected."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from tests.build.sets import digests, encoded, plain_tree, write_tree
from tests.data.images import write_tar
from unshortcut.build.api import filter_data, texturize
from unshortcut.build.destination import sole_writer
from unshortcut.data.copies import MANIFEST
from unshortcut.errors import RunError, UsageError


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return plain_tree(tmp_path / "in", 8)


@pytest.fixture
def out(tmp_path: Path, source: Path) -> Path:
    filter_data(source, tmp_path / "out", "gaussian")
    return tmp_path / "out"


def test_a_finished_copy_has_nothing_to_do(source: Path, out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    made = filter_data(source, out, "gaussian")
    assert (made.made, made.kept) == (0, 8)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_missing_and_cut_copies_are_made_again(source: Path, out: Path) -> None:
    whole = digests(out)
    copies = sorted(out.rglob("*.jpg"))
    copies[0].unlink()
    copies[3].write_bytes(copies[3].read_bytes()[:100])
    copies[5].write_bytes(b"")
    made = filter_data(source, out, "gaussian")
    assert (made.made, made.kept) == (3, 5)
    assert digests(out) == whole


def test_a_truncated_original_is_copied_again(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "both"
    filter_data(source, out, "gaussian", keep_originals=True)
    whole = digests(out)
    (out / "train/c0/000.jpg").write_bytes(b"cut")
    (out / "train/c2/002-gaussian.jpg").unlink()
    assert filter_data(source, out, "gaussian", keep_originals=True).made == 2
    assert digests(out) == whole


def test_sources_that_have_come_since_are_made_too(source: Path, out: Path, tmp_path: Path) -> None:
    (source / "train/c9").mkdir()
    (source / "train/c9/new.png").write_bytes(encoded(99, "PNG"))
    made = filter_data(source, out, "gaussian")
    assert (made.made, made.kept) == (1, 8)
    filter_data(source, tmp_path / "fresh", "gaussian")
    assert digests(out) == digests(tmp_path / "fresh")


def test_a_failure_is_tried_again(source: Path, out: Path, tmp_path: Path) -> None:
    (source / "val/c0/bad.jpg").write_bytes(b"bad")
    assert len(filter_data(source, out, "gaussian").failures) == 1
    again = filter_data(source, out, "gaussian")
    assert (again.made, again.kept, len(again.failures)) == (0, 8, 1)
    (source / "val/c0/bad.jpg").write_bytes(encoded(50))
    mended = filter_data(source, out, "gaussian")
    assert (mended.made, mended.kept, mended.failures) == (1, 8, ())
    filter_data(source, tmp_path / "fresh", "gaussian")
    assert digests(out) == digests(tmp_path / "fresh")


def test_what_a_killed_run_left_aside_is_removed(source: Path, out: Path) -> None:
    whole = digests(out)
    manifest = json.loads((out / MANIFEST).read_text())
    (out / MANIFEST).write_text(json.dumps({**manifest, "finished": False}))
    (out / ".partial/old").mkdir(parents=True)
    (out / ".partial/old/half").write_bytes(b"half")
    (out / f".{MANIFEST}.partial").write_text("{")
    assert filter_data(source, out, "gaussian").made == 0
    assert digests(out) == whole


def test_a_run_killed_before_its_manifest_starts_anew(source: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / f".{MANIFEST}.partial").write_text("{")
    assert filter_data(source, tmp_path / "new", "gaussian").made == 8
    assert not list((tmp_path / "new").glob(".*"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma": [1.0, 2.0]}, r"operation.sigma: \[3.16, 4.47\] there, \[1.0, 2.0\] here"),
        ({"method": "robust"}, "operation.name: 'gaussian' there, 'robust' here$"),
        ({"quality": 80}, "quality: 95 there, 80 here"),
        ({"seed": 1}, "seed: 0 there, 1 here"),
        ({"keep_originals": True}, "keep_originals: False there, True here"),
        ({"format": "png"}, "format: 'keep' there, 'png' here"),
    ],
)
def test_other_parameters_are_refused(source: Path, out: Path, changes: dict, message: str) -> None:
    whole = digests(out)
    with pytest.raises(UsageError, match=message) as refused:
        filter_data(source, out, **{"method": "gaussian", **changes})
    assert "made with other parameters" in str(refused.value)
    assert digests(out) == whole


def test_another_source_or_command_is_refused(source: Path, out: Path, tmp_path: Path) -> None:
    other = plain_tree(tmp_path / "other", 2)
    with pytest.raises(UsageError, match="source: 'in' there, 'other' here"):
        filter_data(other, out, "gaussian")
    with pytest.raises(UsageError, match="command: 'filter' there, 'texturize' here"):
        texturize(source, out)


def test_other_versions_are_warned_of(source: Path, out: Path) -> None:
    manifest = json.loads((out / MANIFEST).read_text())
    manifest["versions"]["numpy"] = "1.0"
    (out / MANIFEST).write_text(json.dumps(manifest))
    with pytest.warns(UserWarning, match=r"numpy \(1.0 there"):
        filter_data(source, out, "gaussian")


def test_two_runs_do_not_write_to_one_folder(
    source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unshortcut.build.destination._PATIENCE", 0.1)
    (out / "val/c0/003.jpg").unlink(missing_ok=True)
    with sole_writer(out), pytest.raises(UsageError, match="another run is writing"):
        filter_data(source, out, "gaussian")


class TestWhatCannotBe:
    def refuse(self, source: Path | str, destination: Path | str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            filter_data(source, destination, "gaussian")

    def test_a_destination_inside_the_source(self, source: Path, tmp_path: Path) -> None:
        self.refuse(source, source / "copy", "lies inside the source")
        (tmp_path / "link").symlink_to(source / "train")
        self.refuse(source, tmp_path / "link/copy", "lies inside the source")
        assert len(list(source.rglob("*.jpg"))) == 8 and not (source / "copy").exists()

    def test_a_destination_inside_what_the_source_links_to(self, tmp_path: Path) -> None:
        write_tree(tmp_path / "far", ["a/1.jpg"])
        (tmp_path / "in").mkdir()
        (tmp_path / "in/link").symlink_to(tmp_path / "far")
        self.refuse(tmp_path / "in", tmp_path / "far/a/copy", "lies inside the source")

    def test_a_source_inside_the_destination(self, source: Path, tmp_path: Path) -> None:
        self.refuse(source, tmp_path, "the source .* lies inside")
        self.refuse(source / "train", source, "the source .* lies inside")

    def test_the_source_itself(self, source: Path, tmp_path: Path) -> None:
        self.refuse(source, source, "is the source itself")
        (tmp_path / "link").symlink_to(source)
        self.refuse(source, tmp_path / "link", "is the source itself")

    def test_a_file(self, source: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        self.refuse(source, tmp_path / "file", "is a file")
        self.refuse(source, tmp_path / "file/below", "cannot create the folder")

    def test_a_folder_with_other_things(self, source: Path, tmp_path: Path) -> None:
        write_tree(tmp_path / "full", ["mine.jpg"])
        self.refuse(source, tmp_path / "full", "contains other files, such as mine.jpg")

    def test_a_manifest_of_something_else(self, source: Path, tmp_path: Path) -> None:
        (tmp_path / "odd").mkdir()
        (tmp_path / "odd" / MANIFEST).write_text("[]")
        self.refuse(source, tmp_path / "odd", "not the manifest of a data set")

    def test_a_source_that_is_not_there_or_empty(self, tmp_path: Path) -> None:
        self.refuse(tmp_path / "none", tmp_path / "out", "no such folder or file")
        (tmp_path / "empty").mkdir()
        self.refuse(tmp_path / "empty", tmp_path / "out", "no images in the folder")
        self.refuse("shaps", tmp_path / "out", "did you mean 'shapes'")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("keep_originals", [False, True])
    def test_two_results_of_one_name(self, tmp_path: Path, keep_originals: bool) -> None:
        names = ["1.jpg", "1-gaussian.jpg"] if keep_originals else ["1.webp", "1.webp.png"]
        write_tree(tmp_path / "clash", names)
        with pytest.raises(UsageError, match=f"two results would be called {names[1]}"):
            filter_data(
                tmp_path / "clash", tmp_path / "out", "gaussian", keep_originals=keep_originals
            )
        assert not (tmp_path / "out").exists()

    def test_wrong_options(self, source: Path, tmp_path: Path) -> None:
        for options, message in (
            ({"format": "gif"}, "'format' must be 'keep', 'jpeg' or 'png', got 'gif'"),
            ({"quality": 0}, "'quality' must be an integer from 1 to 100"),
            ({"workers": 0}, "workers must be at least 1"),
            ({"engine": "spark"}, "'local' or 'ray'"),
            ({"address": "auto"}, "can only be given with the engine 'ray'"),
        ):
            with pytest.raises(UsageError, match=message):
                filter_data(source, tmp_path / "out", "gaussian", **options)
        assert not (tmp_path / "out").exists()


def test_a_full_disk_is_reported_and_the_same_call_continues(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if len(list((tmp_path / "out").rglob("*.jpg"))) >= 3:
            raise OSError(28, "No space left on device")
        return write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(RunError) as stopped:
            filter_data(source, tmp_path / "out", "gaussian", workers=1)
    message = str(stopped.value)
    assert "there is no space left while" in message and "same command again" in message
    assert "3 of 8 images are done" in message
    assert not list((tmp_path / "out").glob(".*"))
    made = filter_data(source, tmp_path / "out", "gaussian")
    assert (made.made, made.kept) == (5, 3)
    filter_data(source, tmp_path / "fresh", "gaussian")
    assert digests(tmp_path / "out") == digests(tmp_path / "fresh")


def test_a_folder_that_cannot_be_written_to_is_reported(source: Path, tmp_path: Path) -> None:
    # A file lies where a folder has to be; that holds for the superuser too.
    out = tmp_path / "out"
    filter_data(source, out, "gaussian")
    manifest = json.loads((out / MANIFEST).read_text())
    (out / MANIFEST).write_text(json.dumps({**manifest, "finished": False}))
    for path in (out / "val").rglob("*.jpg"):
        path.unlink()
    for path in sorted((out / "val").rglob("*"), reverse=True):
        path.rmdir()
    (out / "val").rmdir()
    (out / "val").write_text("in the way")
    with pytest.raises(RunError, match=r"writing failed .* while writing val/"):
        filter_data(source, out, "gaussian")


def test_little_space_is_warned_of(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr("unshortcut.build.run.shutil.disk_usage", lambda path: Usage)
    with pytest.warns(UserWarning, match=r"0.0 GB are free; if the run stops"):
        filter_data(source, tmp_path / "out", "gaussian")


def test_the_current_folder_may_change_between_runs(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    filter_data("in", "out", "gaussian")
    os.chdir(source)
    assert filter_data(".", "../out", "gaussian").kept == 8


def test_an_image_that_changed_after_its_copy_was_made_is_copied_again(
    source: Path, out: Path, tmp_path: Path
) -> None:
    images = sorted(source.rglob("*.jpg"))
    an_hour_ago = time.time() - 3600
    for path in (*images, *out.rglob("*.jpg")):
        os.utime(path, (an_hour_ago, an_hour_ago))
    images[0].write_bytes(encoded(99))
    os.utime(images[1], (time.time() + 3600,) * 2)  # a wrong clock says nothing
    made = filter_data(source, out, "gaussian")
    assert (made.made, made.kept) == (1, 7)
    filter_data(source, tmp_path / "whole", "gaussian")
    assert digests(out) == digests(tmp_path / "whole")


def test_what_another_run_wrote_while_this_one_waited_is_looked_at(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    refused: list[str] = []

    def make() -> None:
        try:
            filter_data(source, out, "gaussian", workers=1)
        except UsageError as error:
            refused.append(str(error))

    waiting = threading.Thread(target=make)
    with sole_writer(out):
        waiting.start()
        time.sleep(0.5)
        (out / "theirs.jpg").write_bytes(encoded(0))
    waiting.join()
    assert refused and "contains other files" in refused[0]
    assert [path.name for path in out.iterdir()] == ["theirs.jpg"]


def test_names_that_would_be_too_long_are_refused_before_any_work(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", [f"{'n' * 251}.bmp"])
    with pytest.raises(UsageError, match="would be too long"):
        filter_data(source, tmp_path / "out", "gaussian")
    assert not (tmp_path / "out").exists()


def test_shards_without_images_are_reported(tmp_path: Path) -> None:
    write_tar(tmp_path / "s-0.tar", {"a.cls": b"1"})
    with pytest.raises(RunError, match="no images in"):
        filter_data(tmp_path / "s-0.tar", tmp_path / "out", "gaussian")
