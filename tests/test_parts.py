"""Settings are validated alike in Python and in recipes, and users bring parts of their own."""

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from unshortcut.augmentations.augmentation import AUGMENTATIONS, make_augmentation
from unshortcut.augmentations.color_jitter import ColorJitter
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.methods.moco import MoCoSettings
from unshortcut.negatives.alpha import AlphaSchedule
from unshortcut.negatives.patch import PatchSettings
from unshortcut.parts import build, part_to_mapping
from unshortcut.recipes.load import load_recipe, to_mapping, to_yaml


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"p": 2}, "'p' must be a number from 0 to 1, got 2"),
        ({"p": float("nan")}, "'p' must be a number from 0 to 1, got nan"),
        ({"hue": [0.2, -0.2]}, "'hue' must be .*, the lower first, got [0.2, -0.2]"),
        ({"hew": 0.1}, "unknown key 'hew'; did you mean 'hue'?"),
    ],
)
def test_python_and_recipes_refuse_the_same_values(settings: dict[str, Any], sentence: str) -> None:
    pattern = sentence.replace("[", r"\[").replace("]", r"\]").replace("?", r"\?")
    with pytest.raises(UsageError, match=f"^color_jitter: {pattern}"):
        ColorJitter(**settings)
    with pytest.raises(UsageError, match=f"^augmentation 'color_jitter': {pattern}"):
        make_augmentation("color_jitter", settings)


def test_a_wrong_positional_argument_is_named() -> None:
    with pytest.raises(UsageError, match="info_nce: 'temperature' must be a number above 0, got 0"):
        InfoNCE(0)


def test_a_wrong_value_deep_in_a_recipe_names_its_part() -> None:
    change = "method.negatives=[{name: patch, schedule: {kind: linear, over: 2}}]"
    message = r"source of negatives 'patch': 'schedule\.over' must be a number above 0 and at most"
    with pytest.raises(UsageError, match=message):
        load_recipe("moco-v2-shapes", [change])
    with pytest.raises(UsageError, match=r"'schedule\.ovr'; did you mean 'schedule\.over'"):
        load_recipe("moco-v2-shapes", [change.replace("over", "ovr")])
    with pytest.raises(UsageError, match="'schedule': 'first' and 'over' have no effect on a con"):
        load_recipe("moco-v2-shapes", [change.replace("linear, over: 2", "constant, over: 0.5")])


def test_settings_are_values() -> None:
    crop = RandomResizedCrop(scale=[0.2, 1])  # type: ignore[arg-type]
    assert crop == RandomResizedCrop() and hash(crop) == hash(RandomResizedCrop())
    assert crop.scale == (0.2, 1.0)
    assert pickle.loads(pickle.dumps(crop)) == copy.deepcopy(crop) == crop
    assert replace(crop, size=96) == RandomResizedCrop(96)
    with pytest.raises(FrozenInstanceError):
        crop.size = 3  # type: ignore[misc]
    with pytest.raises(UsageError, match="size"):
        replace(crop, size=0)
    nested = MoCoSettings(negatives=(PatchSettings(schedule=AlphaSchedule("cosine")),))
    assert pickle.loads(pickle.dumps(nested)) == nested


def test_numbers_may_be_written_as_in_yaml() -> None:
    """PyYAML reads 1e-1 as text."""
    recipe = load_recipe("moco-v2-shapes", ["method.loss.temperature=1e-1"])
    assert recipe.method.loss == InfoNCE(0.1)  # type: ignore[attr-defined]


def test_a_plain_dataclass_refuses_unknown_keys_too() -> None:
    @dataclass(frozen=True)
    class Plain:
        name: ClassVar[str] = "plain"
        width: int = 3

    assert build(Plain, {"width": 4}, "here") == Plain(4)
    with pytest.raises(UsageError, match="here: unknown key 'widht'; did you mean 'width'"):
        build(Plain, {"widht": 4}, "here")
    assert not hasattr(Plain, "__pydantic_config__")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("optimiser.lr=0.1", "unknown key 'optimiser'; it is called 'optimizer' now"),
        ("encoder.colour_split=true", "'encoder.colour_split'; it is called 'encoder.color_split'"),
        ("method.objective.temperature=1", "unknown key 'objective'; it is called 'loss' now"),
        ("method.negatives=[{name: patch, turn: true}]", "'turn'; it is called 'rotate' now"),
        (
            "method.negatives=[{name: other_keys, equal_draws: drop}]",
            "'equal_draws'; it is called 'equal_params' now",
        ),
        (
            "views.augmentations=[{name: rand_augment, spread: 1}]",
            "'spread'; it is called 'magnitude_std' now",
        ),
        ("paper={where: here, figures: {}}", "'paper.figures'; it is called 'paper.metrics' now"),
        ("training.turn=1", "unknown key 'training.turn'; did you mean"),
    ],
)
def test_a_renamed_key_is_given_its_new_name(change: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence.replace(".", r"\.")):
        load_recipe("moco-v2-shapes", [change])


def test_a_renamed_recipe_is_given_its_new_name() -> None:
    old = "moco-v2-patch-flip-vflip-turn-imagenet100"
    with pytest.raises(UsageError, match="it is called 'moco-v2-patch-flip-vflip-rotate-imagenet1"):
        load_recipe(old)


OWN_PARTS = """
import torch

from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.losses.loss import ContrastiveLoss
from unshortcut.methods.moco import MoCoSettings
from unshortcut.negatives.source import NegativeSettings, NegativeSource
from unshortcut.parts import settings


@settings
class Swap(Augmentation):
    name = "swap"
    size: int = 3

    def sample(self, rng, height, width):
        return None

    def apply(self, image, params):
        return image[..., ::-1]


@settings
class Margin(ContrastiveLoss):
    name = "margin"
    temperature: float = 1.0
    margin: float = 0.5

    def __call__(self, positive, negatives):
        return positive


class Nothing(NegativeSource):
    def similarities(self, step):
        return step.queries.new_zeros(len(step.queries), 1)


@settings
class NothingSettings(NegativeSettings):
    name = "nothing"

    def build(self, dim, seed):
        return Nothing()


@settings
class OwnMoCo(MoCoSettings):
    name = "own_moco"
    twist: float = 0.5


class Nameless(Augmentation):
    sample = apply = None
"""


@pytest.fixture
def own_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_parts.py").write_text(OWN_PARTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)


def test_a_recipe_names_parts_of_the_user_s_own(own_parts: None) -> None:
    method = {
        "name": "own_parts:OwnMoCo",
        "twist": 0.25,
        "loss": {"name": "own_parts:Margin", "margin": 0.125},
        "negatives": [{"name": "own_parts:NothingSettings"}, {"name": "queue", "size": 8}],
    }
    views = {"size": 64, "augmentations": [{"name": "own_parts:Swap"}, {"name": "grayscale"}]}
    recipe: Any = load_recipe({"extends": "moco-v2-shapes", "method": method, "views": views})
    assert recipe.method.twist == 0.25 and recipe.method.loss.margin == 0.125
    assert [source.name for source in recipe.method.negatives] == ["nothing", "queue"]
    assert recipe.views.augmentations[0].size == 64  # filled in as for ours

    Path("again.yaml").write_text(to_yaml(recipe))
    assert to_mapping(load_recipe("again.yaml")) == to_mapping(recipe)
    assert to_mapping(recipe)["method"]["name"] == "own_parts:OwnMoCo"
    assert part_to_mapping(recipe.views.augmentations[0])["name"] == "own_parts:Swap"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("absent_parts:Swap", "'absent_parts:Swap': there is no module 'absent_parts'"),
        ("own_parts:Swop", "own_parts:Swop.*has no attribute 'Swop'"),
        ("own_parts:torch", "augmentation 'own_parts:torch' must be a concrete subclass"),
        ("own_parts:Margin", "must be a concrete subclass of Augmentation"),
        ("own_parts:Nameless", "needs a class attribute 'name'"),
        (":Swap", "':Swap'"),
        ("own_parts:", "'own_parts:'"),
    ],
)
def test_a_spec_that_is_no_part_is_refused(own_parts: None, spec: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        AUGMENTATIONS.build({"name": spec})


def test_a_user_s_part_refuses_wrong_settings(own_parts: None) -> None:
    with pytest.raises(UsageError, match="method 'own_parts:OwnMoCo': 'twist' must be a number"):
        load_recipe("moco-v2-shapes", ["method={name: own_parts:OwnMoCo, twist: a lot}"])


def test_finding_one_part_does_not_import_the_others() -> None:
    code = (
        "import sys; from unshortcut.augmentations.augmentation import AUGMENTATIONS as a; "
        "a.find('grayscale'); names = [n for n in sys.modules if 'unshortcut.augmentations.' in n];"
        "print(*sorted(names))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = [name.removeprefix("unshortcut.augmentations.") for name in found.stdout.split()]
    assert "grayscale" in names
    assert set(names) <= {"augmentation", "grayscale", "_random"}
