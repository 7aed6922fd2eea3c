"""The claim on corrupted labels: its arms, the paper's numbers, and a whole small experiment."""

from pathlib import Path

import pytest

from tests.reproduction.small import IMAGES, SETS, images
from unshortcut.data.shapes import Shapes
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.recipes.papers import paper_tables
from unshortcut.reproduction import reproduce
from unshortcut.reproduction.claim import get_claim
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.own_classifier import OwnClassifierMeasure
from unshortcut.reproduction.scales import scale_recipe

CLAIM = get_claim("label-corruption")
QUICK = [one for one in SETS if not one.startswith("method.")]


def test_the_paper_prints_a_lower_error_with_diffused_images_in_every_cell() -> None:
    variants = CLAIM.variants("paper")
    paper = {variant.label: CLAIM.paper(variant.values) for variant in variants}
    assert len(paper) == 20 and all(paper.values())
    printed = {effect.what: effect.in_paper(paper) for effect in CLAIM.effects(variants)}
    assert len(printed) == 10 + 2
    assert all(value is not None and value < 0 for value in printed.values())
    label = "p=1.0 gold=0.1 images="
    assert printed[f"{label}anisotropic - {label}original"] == pytest.approx(45.51 - 51.19)
    assert printed["the same, p=1.0 minus p=0.2"] == pytest.approx((-3.84 - 5.68 + 0.86 + 0.47) / 2)
    assert CLAIM.registration is not None
    assert CLAIM.registration.primary.in_paper(paper) == pytest.approx(-1.3675)


def test_every_row_of_the_table_is_a_command_whose_variants_have_its_numbers() -> None:
    for row in paper_tables("dissertation/2.10")[0].rows:
        assert row.given == "command"
        words = row.source.split()
        chosen = dict(one.split("=") for one in words if "=" in one)
        variants = CLAIM.variants("paper", {axis: [value] for axis, value in chosen.items()})
        found = [CLAIM.paper(variant.values)["test_error"] for variant in variants]
        assert found == [row.numbers["error_baseline"], row.numbers["error_anisotropic"]]


def test_arms_differ_in_noise_and_views_and_share_the_rest() -> None:
    for variant in CLAIM.variants("laptop"):
        base = load_recipe(CLAIM.recipe(variant, CLAIM.base_recipe("laptop")))
        assert CLAIM.registration is not None
        scaled = scale_recipe(base, "laptop", CLAIM.registration.changes)
        phases = [one.recipe for one in load_recipe(scaled, variant.changes).resolved_phases()]
        assert [one.schedule.epochs for one in phases] == [10, 10]
        names = [augmentation.name for augmentation in phases[0].views.augmentations]
        assert ("anisotropic_diffusion" in names) == variant.label.endswith("anisotropic")
        for one in phases:
            assert one.data.label_noise is not None
            assert str(one.data.label_noise.p) == variant.values["p"]
            assert str(one.data.label_noise.gold) == variant.values["gold"]
    assert len(CLAIM.variants("laptop")) == 8


def test_a_scale_reaches_what_a_phase_states_itself() -> None:
    phased = scale_recipe(load_recipe("supervised-doubled-shapes"), "laptop")
    epochs = [one.recipe.schedule.epochs for one in phased.resolved_phases()]
    warmup = [one.recipe.schedule.warmup_epochs for one in phased.resolved_phases()]
    rates = [one.recipe.optimizer.lr for one in phased.resolved_phases()]
    assert epochs == [40, 40] and warmup == [2, 2]
    assert rates == [8e-3, 8e-4], "what the scale does not change stays"


def test_the_experiment_runs_and_measures_the_error_of_the_classifier_itself(
    tmp_path: Path,
) -> None:
    test = images("test")
    outcome = reproduce(
        CLAIM,
        images(),
        seeds=1,
        sets=[*QUICK, "data.batch_size=16"],
        values={"p": ["0.4"], "gold": ["0.4"]},
        tests={"test": test},
        out=tmp_path / "out",
        cache=tmp_path / "trainings",
    )
    assert (tmp_path / "out" / "plot.png").is_file()
    runs = sorted((tmp_path / "trainings").glob("*/run"))
    assert len(runs) == 2
    errors = []
    for run in runs:
        model = load_model(run)
        assert model.logits is not None
        assert test.labels is not None and model.classes == Shapes("train").classes
        wrong = 0
        for index in range(IMAGES):
            logits = model.logits(model.transform(test.image(index).pixels())[None])
            wrong += int(logits.argmax()) != test.labels[index]
        errors.append(100 * wrong / IMAGES)
    shown = [outcome.values(variant, CLAIM.columns[0])[0] for variant in outcome.variants]
    assert sorted(shown) == pytest.approx(sorted(errors))


def test_the_measure_depends_on_the_test_set_alone() -> None:
    measure = OwnClassifierMeasure()
    one, other = (
        measure.dependencies(Evaluation(images(), {"test": images(split)}))
        for split in ("test", "val")
    )
    assert one != other
    assert (
        Evaluation(images()).test.fingerprint() == Evaluation(images()).tests["test"].fingerprint()
    )
