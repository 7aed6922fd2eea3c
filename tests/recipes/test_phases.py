"""Phases of recipes: what each trains by, the published schedules, and what is refused."""

from typing import Any

import pytest

from tests.small import TINY_RECIPE
from unshortcut.errors import UsageError
from unshortcut.recipes.catalog import paper_of
from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.schema import Recipe

TWO: dict[str, Any] = {
    **TINY_RECIPE,
    "phases": [{"name": "first"}, {"name": "second", "optimizer": {"lr": 0.5}}],
}
TUNED = {
    "supervised-stylized-tuned-imagenet": "imagenet-stylized",
    "supervised-anisotropic-tuned-imagenet": "imagenet-anisotropic-20",
    "supervised-anisotropic-50-tuned-imagenet": "imagenet-anisotropic-50",
    "supervised-robust-tuned-imagenet": "imagenet-robust-20",
    "supervised-robust-50-tuned-imagenet": "imagenet-robust-50",
    "supervised-gaussian-tuned-imagenet": "imagenet-gaussian",
    "supervised-cartoon-tuned-imagenet": "imagenet-cartoon",
    "supervised-bilateral-tuned-imagenet": "imagenet-bilateral",
}


def phases(recipe: Recipe) -> list[Recipe]:
    return [one.recipe for one in recipe.resolved_phases()]


def rates(recipe: Recipe) -> list[float]:
    """The learning rate of every epoch, by hand."""
    drops = recipe.schedule.milestones
    return [
        recipe.optimizer.lr * 0.1 ** sum(epoch >= drop for drop in drops)
        for epoch in range(recipe.schedule.epochs)
    ]


@pytest.mark.parametrize("name", TUNED)
def test_the_rows_of_table_2_4_have_the_published_schedule(name: str) -> None:
    recipe = load_recipe(name)
    doubled, originals = phases(recipe)
    assert rates(doubled) == pytest.approx([0.1] * 15 + [0.01] * 15 + [0.001] * 15)
    assert rates(originals) == pytest.approx([0.01] * 30 + [0.001] * 30)
    assert doubled.data.filtered_copy == TUNED[name] and originals.data.filtered_copy is None
    for phase in (doubled, originals):
        assert (phase.data.name, phase.data.batch_size) == ("imagenet", 256)
        assert (phase.optimizer.name, phase.optimizer.weight_decay) == ("sgd", 1e-4)
        assert (phase.encoder.name, phase.method.name) == ("resnet50", "supervised")
        assert phase.schedule.kind == "step" and phase.schedule.gamma == 0.1
    assert doubled.init == "timm:resnet50.tv_in1k", "torchvision's first weights"
    assert [one.continues for one in recipe.resolved_phases()] == [False, True]
    assert recipe.total_epochs == 105


@pytest.mark.parametrize("kind", ["stylized", "anisotropic"])
def test_without_fine_tuning_a_recipe_is_the_first_phase(kind: str) -> None:
    alone = to_mapping(load_recipe(f"supervised-{kind}-doubled-imagenet"))
    first = to_mapping(phases(load_recipe(f"supervised-{kind}-tuned-imagenet"))[0])
    for key in ("summary", "paper"):
        alone.pop(key), first.pop(key)
    assert alone == first


def test_all_rows_of_table_2_4_have_numbers() -> None:
    columns = {"imagenet_top1", "imagenet_top5", "voc_detection"}
    for name in ("supervised-imagenet", *TUNED):
        assert columns <= set(paper_of(name)["metrics"]), name
    assert len({paper_of(name)["metrics"]["voc_detection"] for name in TUNED}) == 8


def test_the_small_recipes_differ_from_their_control_in_the_texture_only() -> None:
    control = load_recipe("supervised-shapes")
    for name, added in (
        ("supervised-anisotropic-shapes", "anisotropic_diffusion"),
        ("supervised-stylized-shapes", "texture_randomization"),
    ):
        recipe = load_recipe(name)
        texture = [one for one in recipe.views.augmentations if one.name == added]
        assert texture[0].p == 0.5  # type: ignore[attr-defined]
        kept = [one for one in recipe.views.augmentations if one.name != added]
        assert kept == control.views.augmentations
        assert (recipe.schedule, recipe.optimizer) == (control.schedule, control.optimizer)
    doubled, originals = phases(load_recipe("supervised-doubled-shapes"))
    assert 2 * doubled.schedule.epochs + originals.schedule.epochs == control.schedule.epochs
    assert doubled.views == originals.views == control.views


def test_a_recipe_without_phases_and_init_does_not_mention_them() -> None:
    for name, mentioned in (
        ("moco-v2-shapes", set()),
        ("supervised-doubled-shapes", {"phases"}),
        ("supervised-stylized-doubled-imagenet", {"init"}),
        ("supervised-stylized-tuned-imagenet", {"init", "phases"}),
    ):
        assert set(to_mapping(load_recipe(name))) & {"init", "phases"} == mentioned


def test_a_phase_changes_only_what_it_says_and_takes_changes_of_the_recipe() -> None:
    recipe = load_recipe(TWO, ["seed=7", "phases.second.schedule.epochs=9", "data.workers=3"])
    base = to_mapping(recipe)
    base.pop("phases")
    first, second = map(to_mapping, phases(recipe))
    assert first == base
    assert (second["optimizer"].pop("lr"), second["schedule"].pop("epochs")) == (0.5, 9)
    base["optimizer"].pop("lr"), base["schedule"].pop("epochs")
    assert second == base
    again = load_recipe(to_mapping(recipe))
    assert again == recipe and phases(again) == phases(recipe)


def test_augmentations_follow_the_size_of_the_views_of_a_phase() -> None:
    recipe = load_recipe(TWO, ["phases.second.views={size: 40}"])
    first, second = (one.views.augmentations[0] for one in phases(recipe))
    assert (first.size, second.size) == (24, 40)  # type: ignore[attr-defined]
    stored = load_recipe(to_mapping(recipe))
    assert phases(stored)[1].views.augmentations[0].size == 40  # type: ignore[attr-defined]


def test_a_phase_may_start_anew_or_from_other_weights() -> None:
    sets = ["init=timm:resnet18", "phases.second.init=null"]
    recipe = load_recipe(TWO, sets)
    assert [one.recipe.init for one in recipe.resolved_phases()] == ["timm:resnet18", None]
    assert not any(one.continues for one in recipe.resolved_phases())
    stored = load_recipe(to_mapping(recipe)).resolved_phases()
    assert not any(one.continues for one in stored), "null is kept when the recipe is stored"
    anew = load_recipe(TWO, ["phases.second.encoder={name: resnet34, options: {}}", *sets])
    assert phases(anew)[1].encoder.name == "resnet34"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("phases.second.optimizer.lrr=1", "phase 'second': .*'optimizer.lrr'.*'optimizer.lr'"),
        ("phases.second.shedule={}", "phase 'second': .*unknown key 'shedule'.*'schedule'"),
        ("phases.second.method={momentun: 1}", "phase 'second': method 'moco': .*'momentun'"),
        ("phases.first.data={batch_size: 1}", "phase 'first': .*'data.batch_size'"),
        ("phases.first.training={accumulate: 3}", "phase 'first': .*multiple of training.accum"),
        ("phases.first.phases=[{name: a}]", "phase 'first': a phase has no phases of its own"),
        ("phases.second.encoder={name: resnet34}", "phase 'second': the encoder is not that of"),
        ("phases.thrid.optimizer.lr=1", "unknown entry .* 'thrid'"),
        ("phases=[{name: a}, {name: a}]", "2 phases are called 'a'"),
        ("phases=[{optimizer: {lr: 1}}]", "key 'phases.0.name' is missing"),
        ("phases=[{name: ../a}]", "phases.0.name"),
    ],
)
def test_a_wrong_phase_is_one_sentence_that_names_it(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_recipe(TWO, [change])
    assert "\n" not in str(caught.value)
