"""Training with corrupted labels in two phases: what is trained on, and resuming to the bit."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.small import TINY
from tests.training.killing import before, in_step, killed
from tests.training.phased import COUNT, PLAIN, QUIET, Place
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.methods.gold_correction import CORRUPTION_FILE, estimate_corruption
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.training import pretraining
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.forecasting import forecast_phases
from unshortcut.training.phases import phase_runs
from unshortcut.training.run_data import RunData, open_run_data

GOLD = 19  # of 64 images, more than half of the classes twice
NOISE = {"kind": "uniform", "p": 0.6, "gold": 0.3}
PHASES: list[dict[str, Any]] = [
    {"name": "silver", "data": {"label_noise": {"images": "silver"}}},
    {
        "name": "corrected",
        "init": None,
        "method": {"name": "gold_correction"},
        "schedule": {"epochs": 2},
    },
]
SMALL: dict[str, Any] = {
    **PLAIN,
    "data": {**PLAIN["data"], "batch_size": 16, "label_noise": NOISE},
    "phases": PHASES,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("noise"))


@pytest.fixture(scope="module")
def whole(place: Place, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run that nothing has interrupted."""
    return place.run(tmp_path_factory.mktemp("whole") / "run", recipe=SMALL)


def data_of(place: Place, *sets: str) -> list[RunData]:
    recipe = load_recipe(SMALL, sets)
    return [
        open_run_data(one.recipe, place.photos, QUIET, visible=False)
        for one in recipe.resolved_phases()
    ]


def test_the_first_phase_has_silver_images_and_the_second_the_same_and_gold(place: Place) -> None:
    silver, everything = (data.source for data in data_of(place))
    assert (len(silver), len(everything)) == (COUNT - GOLD, COUNT)
    assert silver.trusted is not None and not silver.trusted.any()
    assert everything.trusted is not None and everything.labels is not None
    assert silver.labels is not None
    assert everything.labels[~everything.trusted].tolist() == silver.labels.tolist()
    true = open_data(str(place.photos)).labels
    assert true is not None
    assert (everything.labels == true)[everything.trusted].all()
    assert (everything.labels != true).sum() > 10
    other = data_of(place, "seed=1")[1].source
    assert other.labels is not None and other.labels.tolist() != everything.labels.tolist()


def test_filtered_copies_have_the_label_and_the_trust_of_their_originals(place: Place) -> None:
    for data in data_of(place, f"data.filtered_copy={place.copy}"):
        labels, trusted = data.source.labels, data.source.trusted
        assert labels is not None and trusted is not None
        half = len(labels) // 2
        assert half in (COUNT, COUNT - GOLD)
        assert np.array_equal(labels[:half], labels[half:])
        assert np.array_equal(trusted[:half], trusted[half:])


def test_true_labels_of_silver_images_are_not_even_used_for_the_log(place: Place) -> None:
    for data in data_of(place):
        assert data.knn is not None
        for source in (data.knn.bank, data.knn.queries):
            assert source.trusted is not None and source.trusted.all()
    no_gold = load_recipe(PLAIN, ["data.batch_size=16", "data.label_noise={p: 0.5}"])
    assert open_run_data(no_gold, place.photos, QUIET, visible=False).knn is None


def test_the_second_network_is_fresh_and_corrects_by_the_estimate_of_the_first(
    place: Place, whole: RunFolder
) -> None:
    first, second = phase_runs(load_recipe(SMALL), whole)
    assert second.before == first.folder.path.resolve() and second.init is None
    expected = estimate_corruption(load_model(first.folder.path), data_of(place)[1].source)
    state = load_checkpoint(second.folder.checkpoint)["state_dict"]
    np.testing.assert_allclose(state["corruption"], expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(state["corruption"].sum(dim=1), 1.0, atol=1e-5)
    written = np.loadtxt(second.folder.path / CORRUPTION_FILE, delimiter=",")
    np.testing.assert_allclose(written, expected, atol=1e-5)
    assert load_model(whole.path).logits is not None


def test_a_killed_run_ends_with_the_same_weights(place: Place, whole: RunFolder) -> None:
    out = whole.path.parent / "killed"
    with killed(in_step(1, 1)):
        place.run(out, recipe=SMALL)
    with killed(in_step(2, 0)):  # the estimate is made, but in no checkpoint yet
        place.run(out, recipe=SMALL, resume=True)
    assert not (out / "2-corrected" / "checkpoint.ckpt").exists()
    with killed(in_step(2, 3)):
        place.run(out, recipe=SMALL, resume=True)
    found = load_checkpoint(out / "2-corrected" / "checkpoint.ckpt")["state_dict"]["corruption"]
    assert not torch.equal(found, torch.eye(8))
    # What is needed of the first phase is in the checkpoint.
    shutil.move(out / "1-silver" / "encoder.safetensors", out.parent / "moved")
    with killed(before("finish_run")):
        place.run(out, recipe=SMALL, resume=True)
    run = place.run(out, recipe=SMALL, resume=True)
    assert run.weights.read_bytes() == whole.weights.read_bytes()


def test_a_forecast_knows_how_many_images_are_trained_on(place: Place) -> None:
    found = forecast_phases(SMALL, place.photos, images_per_second=10, seconds=0)
    assert [one.data.num_images for one in found] == [COUNT - GOLD, COUNT]
    stated = forecast_phases(
        "glc-doubled-cifar100", num_images=1000, images_per_second=1, seconds=0
    )
    assert [one.data.num_images for one in stated] == [2 * 950, 2 * 1000]
    tiny = [f"encoder={TINY.model_dump_json()}", "data.batch_size=8"]
    measured = forecast_phases("glc-cifar100", sets=tiny, num_images=1000, seconds=0.01)
    assert all(one.speed is not None for one in measured)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (["data.label_noise.p=1.5"], "label_noise.p' must be a number from 0 to 1, got 1.5"),
        (["data.label_noise.gold=1"], "gold' must be a number of at least 0 and below 1"),
        (["data.label_noise.kind=flipped"], "'uniform', 'flip' or 'hierarchical'"),
        (["data.label_noise.kind=hierarchical"], "needs coarse classes: set data.label_noise.hier"),
        (["data.label_noise.hierarchy=shapes"], "is for the kind hierarchical, not for uniform"),
        (["data.label_noise.gold=0"], "'gold_correction' needs trusted labels: set data.label_noi"),
        (["data.label_noise.gold=0.05"], "is 3 of 64 images, too few to have every one of 8"),
        (["phases.silver.method={name: simclr}"], "needs the classifier of a phase before it"),
        (["phases=[]", "method={name: gold_correction}"], "needs the classifier of a phase before"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    place: Place, tmp_path: Path, sets: list[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        pretraining.pretrain(SMALL, place.photos, tmp_path / "run", sets=sets, console=QUIET)
    assert not (tmp_path / "run").exists()
