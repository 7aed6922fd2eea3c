"""What subsets of spaces tell: that of their spaces, each on its own task."""

from pathlib import Path

import pytest

from tests.reproduction.measures.oracles import EVALUATION, knows_color, knows_turn, model_of
from tests.small import TINY_RECIPE
from unshortcut.recipes.load import load_recipe, to_yaml
from unshortcut.reproduction.measures.spaces import SpacesMeasure, of_subset
from unshortcut.training.folder import RunFolder

LOOC = {
    **TINY_RECIPE,
    "method": {
        "name": "looc",
        "negatives": [{"name": "queue", "size": 32}, {"name": "other_keys"}],
    },
}


def run_of(recipe: dict[str, object], folder: Path) -> Path:
    RunFolder(folder).recipe.write_text(to_yaml(load_recipe(recipe)))
    return folder


def test_a_task_is_served_by_the_subsets_that_have_its_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = model_of(knows_color, knows_turn, spaces=("color", "rotation"))
    monkeypatch.setattr("unshortcut.spaces.loading.load_spaces", lambda run: oracle)
    found = SpacesMeasure(seeds=1).compute(run_of(LOOC, tmp_path), EVALUATION)
    assert found["color@color"] == found["rotation@rotation"] == 100
    assert found["color@all"] == found["rotation@all"] == 100
    assert found["color@rotation"] < 40 and found["rotation@color"] < 40
    assert {name.partition("@")[0] for name in found} >= {"test", "conflict", "sketch", "position"}


def test_a_run_without_spaces_has_none_of_the_figures(tmp_path: Path) -> None:
    assert SpacesMeasure().compute(run_of(TINY_RECIPE, tmp_path), EVALUATION) == {}


def test_the_figures_of_a_subset_go_by_the_task() -> None:
    metrics = {"test": 1.0, "test@color": 2.0, "test@invariant+color": 3.0, "color@color": 4.0}
    assert of_subset(metrics, "color") == {"test": 2.0, "color": 4.0}
    assert of_subset(metrics, "invariant+color") == {"test": 3.0}
    assert of_subset(metrics, None) == {"test": 1.0}
