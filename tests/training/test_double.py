"""Training on a data set and its copy."""

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.small import TINY_RECIPE
from unshortcut import pretrain
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.training.logs import read_log
from unshortcut.training.online_knn import knn_data


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """`photos/`, and `copy/` with its negatives; one of them is missing."""
    drawn = Shapes("train", size=32, count=32)
    for index in range(len(drawn)):
        pixels = drawn.image(index).pixels()
        for folder, array in (("photos", pixels), ("copy", 255 - pixels)):
            path = tmp_path / folder / f"{drawn.identity(index)}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            PIL.Image.fromarray(array).save(path)
    next((tmp_path / "copy").rglob("*.png")).unlink()
    return tmp_path / "photos"


def test_a_doubled_run_trains_on_images_and_copies_and_lists_what_is_missing(
    photos: Path, tmp_path: Path
) -> None:
    sets = ["data.batch_size=16", "training.log_steps=1"]
    double = f"data.double={tmp_path / 'copy'}"
    run = pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[*sets, double])
    about = json.loads((run.folder / "run.json").read_text())
    assert about["images"] == 64
    (missing,) = (run.folder / "skipped.jsonl").read_text().splitlines()
    assert "it has no copy in copy" in missing
    plain = pretrain(TINY_RECIPE, photos, tmp_path / "plain", sets=sets)
    steps = [read_log(folder / "log.jsonl")[-1]["step"] for folder in (run.folder, plain.folder)]
    assert steps == [2 * (63 // 16), 2 * (32 // 16)], "two epochs of whole batches"


def test_a_run_resumes_where_its_copy_has_moved_and_not_where_it_has_changed(
    photos: Path, tmp_path: Path
) -> None:
    copy, moved = tmp_path / "copy", tmp_path / "moved"
    pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.double={copy}"])
    copy.rename(moved)
    pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.double={moved}"], resume=True)
    PIL.Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(next(moved.rglob("*.png")))
    with pytest.raises(UsageError, match="content has changed"):
        pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.double={moved}"], resume=True)


def test_a_copy_that_is_not_there_is_refused_before_anything_is_written(
    photos: Path, tmp_path: Path
) -> None:
    crop = "{name: random_resized_crop}, {name: from_copy, path: nowhere}"
    for change in ("data.double=nowhere", f"views.augmentations=[{crop}]"):
        with pytest.raises(UsageError, match="no copy of a data set at nowhere"):
            pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[change])
    assert not (tmp_path / "run").exists()


def test_progress_is_measured_on_images_and_never_on_copies(photos: Path) -> None:
    source = open_data(photos)
    shown = knn_data(str(photos), source, seed=0)
    assert shown is not None
    names = [s.identity(i) for s in (shown.bank, shown.queries) for i in range(len(s))]
    assert sorted(names) == sorted(source.identity(i) for i in range(len(source)))
