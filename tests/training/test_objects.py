"""Runs with views of objects."""

import json
from pathlib import Path

import pytest

from tests.data.boxed import Boxed
from tests.methods.small_runs import SMALL, assert_resumes_exactly, small_run
from unshortcut.data.proposals import COLUMNS
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.recipes.load import load_recipe
from unshortcut.training.contact_sheet import show
from unshortcut.training.logs import read_log

OBJECTS = "views.objects={window: 8}"
TOP_LEFT = (0.0, 0.0, 16.0, 16.0)


def scenes(count: int = 96) -> Shapes:
    return Shapes("scene", size=48, count=count)


@pytest.mark.parametrize(
    "recipe",
    [
        "moco-v2-patch-shapes",
        "simclr-shapes",
        "byol-patch-shapes",
        "densecl-shapes",
        "looc-patch-shapes",
        "looc-add-one-color-shapes",
        "mae-shapes",
        "can-shapes",
        "can-patch-shapes",
    ],
)
def test_every_method_that_compares_views_takes_views_of_objects(recipe: str) -> None:
    plan = load_recipe(recipe, [*SMALL, OBJECTS]).view_plan()
    image, regions = scenes(1).image(0), scenes(1).regions(0)
    from unshortcut.data.objects import ImageWithObjects

    assert regions.boxes is not None
    made = plan(ImageWithObjects(image, regions.boxes), 0, 0, 0)
    plain = plan(image, 0, 0, 0)
    assert made.keys() == plain.keys()
    assert all((made[name] != plain[name]).any() for name in made)


def test_a_run_counts_images_without_objects_and_falls_back(tmp_path: Path) -> None:
    source = Boxed([[TOP_LEFT] if index % 4 else [] for index in range(64)], size=32)
    run = small_run(
        "moco-v2-shapes", tmp_path / "run", [OBJECTS, "training.log_steps=1"], source=source
    )
    metadata = json.loads((run.folder / "run.json").read_text())
    assert (metadata["images_without_objects"], metadata["num_items"]) == (16, 64)
    shares = [entry["without_object"] for entry in read_log(run.folder / "log.jsonl")]
    assert sum(shares) / len(shares) == pytest.approx(0.25)


def test_an_epoch_over_objects_has_a_step_for_every_batch_of_objects(tmp_path: Path) -> None:
    source = Boxed([[TOP_LEFT] * 3 for _ in range(32)], size=32)
    sets = [OBJECTS, "data.epoch=objects", "schedule.epochs=1"]
    run = small_run("moco-v2-shapes", tmp_path / "run", sets, source=source)
    assert read_log(run.folder / "log.jsonl")[-1]["step"] == 3


def test_a_stopped_run_over_objects_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    sets = [OBJECTS, "data.epoch=objects", "data.batch_size=48", "method.batch_norm_groups=4"]
    assert_resumes_exactly("moco-v2-shapes", tmp_path, sets, scenes(48))


def test_proposals_take_the_place_of_annotated_boxes(tmp_path: Path) -> None:
    source = scenes(32)
    path = tmp_path / "proposals.csv"
    rows = [f"{source.identity(index)},48,48,1,0,0,16,16" for index in range(32)]
    path.write_text("\n".join([",".join(COLUMNS), *rows]))
    sets = [*SMALL, OBJECTS, "views.augmentations=[{name: resize, size: [24, 24]}]"]
    annotated = show("moco-v2-shapes", source, sets=sets, num_images=2)
    proposed = show("moco-v2-shapes", source, sets=[*sets, f"data.proposals={path}"], num_images=2)
    assert annotated.tobytes() != proposed.tobytes()
    run = small_run(
        "moco-v2-shapes", tmp_path / "run", [OBJECTS, f"data.proposals={path}"], source=source
    )
    path.write_text(path.read_text().replace(",16,16", ",17,17"))
    with pytest.raises(UsageError, match="their content has changed"):
        small_run(
            "moco-v2-shapes",
            run.folder,
            [OBJECTS, f"data.proposals={path}"],
            source=source,
            resume=True,
        )


def test_what_cannot_work_is_said_before_a_run_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"data\.epoch is for views of objects"):
        load_recipe("moco-v2-shapes", ["data.epoch=objects"])
    with pytest.raises(UsageError, match=r"data\.proposals is for views of objects"):
        load_recipe("moco-v2-shapes", ["data.proposals=p.csv"])
    with pytest.raises(UsageError, match="compare the views 'query' and 'key'"):
        load_recipe("jigsaw-shapes", ["views.objects={}"])
    with pytest.raises(UsageError, match="these data do not have"):
        small_run("moco-v2-shapes", tmp_path / "run", [OBJECTS])
    with pytest.raises(UsageError, match=r"none of the images has an object of 100² pixels"):
        small_run(
            "moco-v2-shapes",
            tmp_path / "run",
            ["views.objects={smallest: 100}"],
            source=scenes(32),
        )
