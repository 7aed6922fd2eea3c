"""The claim on object crops: its arms, the origin of their boxes, and a small experiment."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.reproduction.small import SETS
from unshortcut.data.proposals import FILE, WithProposals
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import DerivedSource
from unshortcut.errors import UsageError
from unshortcut.probes.run import probe
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction import Reproduction, proposal_step, reproduce
from unshortcut.reproduction.claim import get_claim
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.locks import locked
from unshortcut.reproduction.measures.scenes import SceneMeasure, SingleObjectMeasure
from unshortcut.reproduction.plan import Plan
from unshortcut.reproduction.registered import registered_plan

CLAIM = get_claim("object-crops")
SCENES = Shapes("scene-train", size=32, count=40)
OBJECTS = {"objects": (Shapes("train", size=24, count=40), Shapes("test", size=24, count=24))}
ARMS = [f"crops={crops}" for crops in ("random", "annotation", "proposals", "features")]


def run(folder: Path, **changed: Any) -> Reproduction:
    return reproduce(
        CLAIM,
        SCENES,
        seeds=1,
        sets=[*SETS, "data.batch_size=16", "views.eval_size=32"],
        tests={"test": Shapes("scene-test", size=32, count=24)},
        transfers=OBJECTS,
        out=folder / "out",
        cache=folder / "trainings",
        **changed,
    )


@pytest.fixture(scope="module")
def plan() -> Plan:
    return registered_plan(CLAIM, "nowhere")


def test_four_arms_share_recipe_and_data_and_differ_in_their_boxes(plan: Plan) -> None:
    assert [variant.label for variant in plan.variants] == ARMS
    first = dict(zip(ARMS, plan.trainings, strict=False))
    random, annotated, searched, own = first.values()
    assert random.recipe.views.objects is None and random.recipe.data.name == "shapes@scene-train"
    for one in (annotated, searched, own):
        assert one.recipe.views.objects is not None
        views = replace_objects(one.recipe.views)
        assert views == random.recipe.views and one.recipe.method == random.recipe.method
        assert one.recipe.schedule == random.recipe.schedule
    assert random.proposals is None and annotated.proposals is None
    assert searched.proposals is not None and own.proposals is not None
    assert searched.proposals.model is None and own.proposals.model is not None
    assert own.proposals.model.key == random.key, "of the same seed"
    assert len({one.key for one in plan.trainings}) == 12


def replace_objects(views: Any) -> Any:
    return views.model_copy(update={"objects": None})


def test_boxes_of_one_method_are_shared_by_the_seeds_and_those_of_an_encoder_are_not(
    plan: Plan,
) -> None:
    folders = {
        label: {
            one.proposals.folder
            for one in plan.trainings
            if one.variant == label and one.proposals is not None
        }
        for label in ARMS
    }
    assert {label: len(found) for label, found in folders.items()} == dict(
        zip(ARMS, (0, 0, 1, 3), strict=True)
    )


def test_the_paper_prints_a_rise_of_8_8_points(plan: Plan) -> None:
    paper = {variant.label: CLAIM.paper(variant.values) for variant in plan.variants}
    assert CLAIM.registration is not None
    assert CLAIM.registration.primary.in_paper(paper) == pytest.approx(8.8)
    assert paper["crops=annotation"]["object_accuracy"] == 68.0
    assert paper["crops=proposals"] == {} == paper["crops=features"]


def test_other_recipes_need_a_partner_with_object_crops() -> None:
    random, annotated, *_ = CLAIM.variants("paper")
    for base, objects in (
        ("moco-v2-coco", "moco-v2-objects-coco"),
        ("moco-v2-openimages", "moco-v2-objects-openimages"),
    ):
        assert (CLAIM.recipe(random, base), CLAIM.recipe(annotated, base)) == (base, objects)
        assert load_recipe(objects).data.name == load_recipe(base).data.name
    with pytest.raises(UsageError, match="recipe with random crops 'moco-v2-shapes'"):
        CLAIM.recipe(random, "moco-v2-shapes")


def test_the_experiment_proposes_boxes_and_trains_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run(tmp_path)
    assert outcome.trained == 4
    assert all(set(one) == {"scene_map", "object_accuracy"} for (one,) in outcome.metrics.values())
    folders = sorted((tmp_path / "trainings").glob("proposals-*"))
    assert len(folders) == 2
    made = {
        json.loads((folder / "boxes" / "unshortcut.json").read_text())["operation"]["name"]: folder
        for folder in folders
    }
    assert set(made) == {"selective_search", "features"}
    jobs = {job.variant: job for job in outcome.trainings}
    for label, method in (("crops=proposals", "selective_search"), ("crops=features", "features")):
        attached = WithProposals(SCENES, made[method] / "boxes")
        about = json.loads((jobs[label].run.path / "run.json").read_text())
        assert about["data_fingerprint"] == attached.fingerprint()
        assert about["data"] == "shapes@scene-train with proposals"
    written = (jobs["crops=features"].run.path / "recipe.yaml").read_text()
    assert str(tmp_path) not in written

    monkeypatch.setattr(proposal_step, "propose", None)  # nothing is proposed again
    again = run(tmp_path)
    assert again.trained == 0 and again.metrics == outcome.metrics

    fitted = probe(
        jobs["crops=annotation"].run.path,
        SCENES,
        "multilabel",
        tests={"test": Shapes("scene-test", size=32, count=24)},
        console=Console(quiet=True),
    )
    shown = outcome.metrics["crops=annotation"][0]["scene_map"]
    assert fitted.means()["test"] == pytest.approx(shown)


def test_an_arm_alone_trains_the_encoder_that_it_needs_and_makes_lost_boxes_again(
    tmp_path: Path,
) -> None:
    alone = run(tmp_path, only=["crops=features"])
    assert list(alone.metrics) == ["crops=features"]
    (job,) = alone.trainings
    assert job.proposals is not None and job.proposals.model is not None
    assert job.proposals.model.run.weights.is_file()
    weights = job.run.weights.read_bytes()
    boxes = job.proposals.folder / "boxes" / FILE
    before = boxes.read_bytes()

    # Of the training only metrics were kept, and another measure is asked for.
    shutil.rmtree(job.proposals.folder)
    for path in (job.run.weights, job.proposals.model.run.weights):
        path.unlink()
    for path in job.folder.glob("measurements/*"):
        path.unlink()
    again = run(tmp_path, only=["crops=features"])
    assert boxes.read_bytes() == before and job.run.weights.read_bytes() == weights
    assert again.metrics == alone.metrics


def test_a_training_waits_for_the_encoder_that_another_command_is_training(
    plan: Plan, tmp_path: Path
) -> None:
    _, annotated, _, own = (move(one, tmp_path) for one in plan.trainings[:4])
    assert own.proposals is not None and own.proposals.model is not None
    assert not own.waits
    with locked(own.proposals.model.folder):
        assert own.waits and not annotated.waits
    with locked(own.proposals.folder):
        assert own.waits
    assert not own.waits


def move(job: Any, root: Path) -> Any:
    step = job.proposals
    if step is not None:
        model = None if step.model is None else move(step.model, root)
        step = replace(step, root=root, model=model)
    return replace(job, folder=root / job.key, proposals=step)


def test_measures_of_other_data_need_several_labels_and_say_what_is_missing() -> None:
    single = Shapes("train", size=24, count=8)
    with pytest.raises(UsageError, match="multilabel"):
        SceneMeasure().dependencies(Evaluation(single, {"test": single}))
    drawn = SingleObjectMeasure().dependencies(Evaluation(SCENES))
    given = SingleObjectMeasure().dependencies(Evaluation(SCENES, transfer_data=OBJECTS))
    assert drawn != given and drawn["tasks"][0]["train"] == Shapes("train").fingerprint()


def test_photographs_without_images_of_single_objects_are_measured_on_scenes_alone() -> None:
    other = DerivedSource(SCENES)  # not `Shapes` itself
    evaluation = Evaluation(other, {"test": SCENES})
    (note,) = SingleObjectMeasure().notes(evaluation)
    assert "--transfer objects=TRAIN:TEST" in note
    assert SceneMeasure().dependencies(evaluation)["test"] == SCENES.fingerprint()
