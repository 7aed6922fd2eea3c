"""Checkpoints are whole or absent, and nothing in a file is executed."""

import errno
import os
import pickle
from pathlib import Path

import pytest
import torch

from unshortcut import files
from unshortcut.errors import RunError, UsageError
from unshortcut.training.checkpoint import WholeFileIO, load_checkpoint


def test_a_full_disk_leaves_the_old_checkpoint_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.ckpt"
    io = WholeFileIO()
    io.save_checkpoint({"step": 1}, path)
    before = path.read_bytes()

    def no_space(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(RunError, match=r"could not be written .*No space left.* untouched"):
        io.save_checkpoint({"step": 2, "big": torch.zeros(1000)}, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint.ckpt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".checkpoint.ckpt.partial").symlink_to("/dev/full")
    with pytest.raises(RunError, match="could not be written"):
        WholeFileIO().save_checkpoint({"big": torch.zeros(100_000)}, tmp_path / "checkpoint.ckpt")
    assert not (tmp_path / "checkpoint.ckpt").exists()


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch hostile-was-here",)


def test_a_hostile_pickle_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, write in enumerate((torch.save, lambda o, p: Path(p).write_bytes(pickle.dumps(o)))):
        path = tmp_path / f"{number}.ckpt"
        write({"state_dict": Hostile()}, path)
        with pytest.raises(UsageError, match="not a checkpoint that is safe to load"):
            load_checkpoint(path)
    assert not Path("hostile-was-here").exists()


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.ckpt"
    WholeFileIO().save_checkpoint({"weights": torch.zeros(1000)}, path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UsageError, match="not a checkpoint"):
        load_checkpoint(path)
