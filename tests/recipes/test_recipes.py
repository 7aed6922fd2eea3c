"""Recipes load, say what the papers say, and refuse what is wrong in one sentence."""

from pathlib import Path

import pytest

from unshortcut.errors import UsageError
from unshortcut.methods.moco import MoCoSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.recipes import catalog
from unshortcut.recipes.catalog import list_recipes
from unshortcut.recipes.load import load_recipe, to_mapping, to_yaml


@pytest.mark.parametrize("name", list_recipes())
def test_every_recipe_loads_and_survives_being_written_out(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    assert recipe.summary
    (tmp_path / "again.yaml").write_text(to_yaml(recipe))
    assert to_mapping(load_recipe(tmp_path / "again.yaml")) == to_mapping(recipe)


@pytest.mark.parametrize(
    ("name", "lr", "batch", "momentum", "queue", "epochs"),
    [
        ("moco-v2-imagenet", 0.03, 256, 0.999, 65536, 200),
        ("moco-v2-imagenet100", 0.03, 128, 0.999, 16384, 200),
        ("moco-v2-k8192-imagenet100", 0.03, 128, 0.999, 8192, 200),
        ("moco-v2-ifm-imagenet100", 0.8, 512, 0.99, 65536, 200),
        ("moco-v2-stl10", 0.03, 128, 0.999, 16384, 200),
        ("moco-v2-500ep-imagenet100", 0.03, 256, 0.999, 16384, 500),
    ],
)
def test_the_papers_settings(
    name: str, lr: float, batch: int, momentum: float, queue: int, epochs: int
) -> None:
    recipe = load_recipe(name)
    method = recipe.method
    assert isinstance(method, MoCoSettings)
    assert (recipe.optimizer.lr, recipe.data.batch_size) == (lr, batch)
    assert (method.momentum, method.negatives) == (momentum, (QueueSettings(queue),))
    assert (recipe.schedule.epochs, recipe.encoder.name) == (epochs, "resnet50")
    assert method.loss.temperature == 0.2  # type: ignore[attr-defined]


def test_sizes_follow_the_views() -> None:
    recipe = load_recipe("moco-v2-imagenet", ["views.size=96"])
    assert recipe.views.augmentations[0].size == 96  # type: ignore[attr-defined]


def test_set_reaches_list_entries_by_name_and_by_position() -> None:
    by_name = load_recipe("moco-v2-imagenet", ["views.augmentations.color_jitter.p=0"])
    by_place = load_recipe("moco-v2-imagenet", ["views.augmentations.1.p=0"])
    assert to_mapping(by_name) == to_mapping(by_place)
    assert by_name.views.augmentations[1].p == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("optimizer.lrr=1", "unknown key 'optimizer.lrr'; did you mean 'optimizer.lr'"),
        ("data.batch_size=many", "'data.batch_size' .*integer.* got 'many'"),
        ("schedule.kind=cosin", "'schedule.kind' must be 'cosine', 'step', 'constant' or 'linear'"),
        ("method.name=mocco", "unknown method 'mocco'; did you mean 'moco'"),
        ("method.momentun=0.9", "method 'moco': unknown key 'momentun'; did you mean 'momentum'"),
        ("views.augmentations.color_jiter.p=0", "did you mean 'color_jitter'"),
        ("views.augmentations.grayscale.q=0", "augmentation 'grayscale': unknown key 'q'"),
        ("training.accumulate=3", "must be a multiple of training.accumulate 3"),
        ("views.overrides={qery: []}", "unknown view in views.overrides 'qery'"),
        ("seed", "--set wants key=value, got 'seed'"),
        ("seed.x=1", "no keys under 'seed'"),
    ],
)
def test_a_wrong_setting_is_one_sentence(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_recipe("moco-v2-imagenet", ["seed=0", change])
    assert "\n" not in str(caught.value)


def test_an_unknown_recipe_gives_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'moco-v2-shapes'"):
        load_recipe("moco-v2-shape")


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['touch hostile-was-here']",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "extends: [",
        "- a list",
        "extends: self.yaml",
    ],
)
def test_a_hostile_or_broken_file_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("self.yaml").write_text(text)
    with pytest.raises(UsageError):
        load_recipe("self.yaml")
    assert not Path("hostile-was-here").exists()


def test_a_child_changes_only_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "child.yaml").write_text("extends: moco-v2-imagenet\noptimizer: {lr: 0.5}\n")
    child, parent = (
        to_mapping(load_recipe(tmp_path / "child.yaml")),
        to_mapping(load_recipe("moco-v2-imagenet")),
    )
    assert child["optimizer"]["lr"] == 0.5
    child["optimizer"]["lr"] = parent["optimizer"]["lr"]
    assert child.pop("paper") is None
    parent.pop("paper")
    assert child == parent


def test_every_recipe_is_in_a_group_and_has_a_name_of_its_own() -> None:
    folder = Path(catalog.__file__).parent
    files = [path for path in folder.rglob("*.yaml") if path.parent.name != catalog.PAPERS]
    assert {path.parent for path in files} == {folder / group for group in catalog.GROUPS}
    assert len({path.stem for path in files}) == len(files) == len(list_recipes())
    infos = list(catalog.recipe_infos())
    assert sorted(info.name for info in infos) == list_recipes()
    assert all(info.summary == load_recipe(info.name).summary for info in infos)
    assert [info.name for info in catalog.recipe_infos("moco-v2-stl*")] == ["moco-v2-stl10"]
