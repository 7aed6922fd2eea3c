"""Training on a data set and its copy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from lightning.pytorch import Callback, Trainer

from tests.methods.small_runs import small_run
from tests.small import TINY_RECIPE
from unshortcut import pretrain
from unshortcut.data.copies import MANIFEST, open_copy, with_filtered_copy
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.files import write_json
from unshortcut.imaging.blur import gaussian_blur
from unshortcut.models.card import WEIGHTS_FILE, read_weights
from unshortcut.recipes.load import load_recipe
from unshortcut.training.logs import read_log
from unshortcut.training.online_knn import KnnData, knn_data
from unshortcut.views.plan import ViewPlan


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """`photos/`, and `copy/` with its negatives; one of them is missing."""
    shapes = Shapes("train", size=32, count=32)
    for index in range(len(shapes)):
        pixels = shapes.image(index).pixels()
        for folder, array in (("photos", pixels), ("copy", 255 - pixels)):
            path = tmp_path / folder / f"{shapes.identity(index)}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            PIL.Image.fromarray(array).save(path)
    next((tmp_path / "copy").rglob("*.png")).unlink()
    return tmp_path / "photos"


def test_a_run_with_a_filtered_copy_trains_on_images_and_copies_and_lists_what_is_missing(
    photos: Path, tmp_path: Path
) -> None:
    sets = ["data.batch_size=16", "training.log_steps=1"]
    filtered = f"data.filtered_copy={tmp_path / 'copy'}"
    run = pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[*sets, filtered])
    metadata = json.loads((run.folder / "run.json").read_text())
    assert metadata["num_images"] == 64
    (missing,) = (run.folder / "skipped.jsonl").read_text().splitlines()
    assert "it has no copy in copy" in missing
    plain = pretrain(TINY_RECIPE, photos, tmp_path / "plain", sets=sets)
    steps = [read_log(folder / "log.jsonl")[-1]["step"] for folder in (run.folder, plain.folder)]
    assert steps == [2 * (63 // 16), 2 * (32 // 16)], "two epochs of whole batches"


def test_densecl_trains_on_copies_with_patch_negatives_and_diffusion(
    photos: Path, tmp_path: Path
) -> None:
    sets = [
        f"data.filtered_copy={tmp_path / 'copy'}",
        "method.hidden=8",
        "method.negatives=[{name: queue, size: 32}, {name: patch}]",
        "method.dense_negatives=[{name: queue, size: 32}, {name: patch}]",
        "schedule.epochs=1",
        "training.log_steps=1",
    ]
    out = tmp_path / "run"
    small_run("densecl-anisotropic-shapes", out, sets, source=open_data(photos))
    (entry,) = (entry for entry in read_log(out / "log.jsonl") if "loss" in entry)
    assert entry["loss"] == pytest.approx((entry["loss_global"] + entry["loss_dense"]) / 2)


def test_copies_have_the_augmentations_of_their_own_and_images_those_of_all(
    photos: Path, tmp_path: Path
) -> None:
    doubled = with_filtered_copy(open_data(photos), str(tmp_path / "copy"))
    blur = {"name": "gaussian_blur", "sigma": [2.0, 2.0], "p": 1.0}
    crop = {"name": "random_resized_crop"}
    values = {**TINY_RECIPE, "data": {"filtered_copy": "copy", "batch_size": 16}}
    values["views"] = {"size": 32, "augmentations": [crop, blur], "filtered_copy": [crop]}
    values["method"] = {"name": "simclr"}
    plan = load_recipe(values).view_plan()
    cropped = ViewPlan(plan.transforms, load_recipe(values).views.augmentations[:1])
    checked = set()
    for index in (0, 1, len(doubled) - 2, len(doubled) - 1):
        image = doubled.image(index)
        views, plain = plan(image, 0, 0, index), cropped(image, 0, 0, index)
        copied = index >= len(doubled) // 2
        checked.add(copied)
        for name, view in views.items():
            expected = plain[name] if copied else gaussian_blur(plain[name], 2.0)
            np.testing.assert_array_equal(view, expected)
    assert checked == {True, False}


def test_augmentations_for_copies_need_copies() -> None:
    with pytest.raises(UsageError, match="filtered_copy is for the images of data"):
        load_recipe(TINY_RECIPE, ["views.filtered_copy=[]"])


def test_half_of_the_doubled_recipes_views_are_copies_and_never_blurred() -> None:
    recipe = load_recipe("moco-v2-anisotropic-doubled-imagenet")
    assert recipe.views.filtered_copy is not None
    names = [
        [one.name for one in augmentations]
        for augmentations in (recipe.views.augmentations, recipe.views.filtered_copy)
    ]
    assert [name for name in names[0] if name != "gaussian_blur"] == names[1]
    kept = [one for one in recipe.views.augmentations if one.name != "gaussian_blur"]
    assert recipe.views.filtered_copy == kept
    (blur,) = (one for one in recipe.views.augmentations if one.name == "gaussian_blur")
    assert blur.p == 0.5  # type: ignore[attr-defined]
    base = load_recipe("moco-v2-imagenet")
    assert 2 * recipe.schedule.epochs == base.schedule.epochs


def test_a_run_resumes_where_its_copy_has_moved_and_not_where_it_has_changed(
    photos: Path, tmp_path: Path
) -> None:
    copy, moved = tmp_path / "copy", tmp_path / "moved"
    pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.filtered_copy={copy}"])
    copy.rename(moved)
    pretrain(
        TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.filtered_copy={moved}"], resume=True
    )
    PIL.Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(next(moved.rglob("*.png")))
    with pytest.raises(UsageError, match="content has changed"):
        pretrain(
            TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.filtered_copy={moved}"], resume=True
        )


def test_a_copy_that_is_not_there_is_refused_before_anything_is_written(
    photos: Path, tmp_path: Path
) -> None:
    crop = "{name: random_resized_crop}, {name: from_copy, path: nowhere}"
    for change in ("data.filtered_copy=nowhere", f"views.augmentations=[{crop}]"):
        with pytest.raises(UsageError, match="no copy of a data set at nowhere"):
            pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[change])
    assert not (tmp_path / "run").exists()


def test_progress_is_measured_on_images_and_never_on_copies(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[KnnData | None] = []

    def recorded(*arguments: Any) -> KnnData | None:
        chosen.append(knn_data(*arguments))
        return chosen[-1]

    monkeypatch.setattr("unshortcut.training.run_data.knn_data", recorded)
    sets = [f"data.filtered_copy={tmp_path / 'copy'}", "training.knn_epochs=1"]
    pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=sets)
    (shown,) = chosen
    assert shown is not None
    names = [s.identity(i) for s in (shown.bank, shown.queries) for i in range(len(s))]
    source = open_data(photos)
    assert sorted(names) == sorted(source.identity(i) for i in range(len(source)))


@pytest.mark.parametrize("kind", ["filtered_copy", "from_copy"])
def test_an_interrupted_run_ends_with_the_weights_of_one_that_was_not(
    photos: Path, tmp_path: Path, kind: str
) -> None:
    copy = tmp_path / "copy"
    views = f"[{{name: random_resized_crop}}, {{name: from_copy, path: {copy}}}]"
    change = (
        f"data.filtered_copy={copy}" if kind == "filtered_copy" else f"views.augmentations={views}"
    )
    sets = ["data.batch_size=16", change]
    whole = pretrain(TINY_RECIPE, photos, tmp_path / "whole", sets=sets)

    class Cut(Callback):
        def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
            if trainer.global_step == 3:
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unshortcut.training.trainer.StepExchange", lambda *_: Cut())
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            pretrain(TINY_RECIPE, photos, tmp_path / "cut", sets=sets)
    cut = pretrain(TINY_RECIPE, photos, tmp_path / "cut", sets=sets, resume=True)
    first, second = (read_weights(run.folder / WEIGHTS_FILE) for run in (whole, cut))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_doubled_set_or_an_unfinished_one_is_no_copy(photos: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for manifest, message in (
        ({"keep_originals": True, "finished": True}, "is a doubled set"),
        ({"double": True, "finished": True}, "is a doubled set"),  # of an older version
        ({"keep_originals": False, "finished": False}, "is not finished"),
    ):
        write_json(copy / MANIFEST, manifest)
        open_copy.cache_clear()
        with pytest.raises(UsageError, match=message):
            pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[f"data.filtered_copy={copy}"])


def test_copies_of_another_size_are_refused_before_anything_is_written(
    photos: Path, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    for path in photos.rglob("*.png"):
        (small / path.relative_to(photos)).parent.mkdir(parents=True, exist_ok=True)
        PIL.Image.open(path).resize((16, 16)).save(small / path.relative_to(photos))
    views = f"[{{name: random_resized_crop}}, {{name: from_copy, path: {small}}}]"
    with pytest.raises(UsageError, match="its copy is 16 × 16 pixels, it is 32 × 32"):
        pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=[f"views.augmentations={views}"])
    assert not (tmp_path / "run").exists()


def test_copies_of_copies_are_refused(photos: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for key in ("augmentations", "filtered_copy"):
        sets = [
            f"data.filtered_copy={copy}",
            f"views.{key}=[{{name: random_resized_crop}}, {{name: from_copy, path: {copy}}}]",
        ]
        with pytest.raises(UsageError, match="copies have no copies"):
            pretrain(TINY_RECIPE, photos, tmp_path / "run", sets=sets)
