"""The filter of a Pix2Pix run as an augmentation: applied at random, checked with the recipe."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from tests.translation.test_trained import IMAGE, write_generator
from unshortcut.augmentations import make_augmentation
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.randomness import generator
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.identity import training_key
from unshortcut.training.pretraining import pretrain
from unshortcut.translation.residual import ResidualSettings
from unshortcut.translation.trained import load_generator


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_generator(tmp_path / "run", ResidualSettings(4, 3))


def test_it_is_the_trained_generator_with_probability_p(run: Path) -> None:
    augmentation = make_augmentation("pix2pix", {"weights": str(run), "p": 0.25})
    drawn = [augmentation.sample(generator(0, i), *IMAGE.shape[:2]) for i in range(400)]
    assert 70 <= sum(params is not None for params in drawn) <= 130
    assert np.array_equal(augmentation.apply(IMAGE, True), load_generator(run)(IMAGE))
    assert augmentation.apply(IMAGE, None) is IMAGE


def test_views_are_the_same_for_the_same_key(run: Path) -> None:
    entries = f"{{name: random_resized_crop}}, {{name: pix2pix, weights: '{run}', p: 1}}"
    sets = [f"views.augmentations=[{entries}]", "views.size=24"]
    recipe = load_recipe("moco-v2-shapes", sets)
    image = Shapes("train", size=32, count=4).image(1)
    plain = load_recipe("moco-v2-shapes", [*sets, "views.augmentations.pix2pix.p=0"])
    first, again, without = (
        one.view_plan()(image, 0, 0, 1)["query"] for one in (recipe, recipe, plain)
    )
    assert np.array_equal(first, again)
    assert np.array_equal(first, load_generator(run)(without))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{name: pix2pix}", "'weights' is missing: give the folder of a Pix2Pix run"),
        ("{name: first_of, augmentations: [{name: pix2pix}]}", "'weights' is missing"),
        ("{name: pix2pix, weights: nowhere}", "nowhere' does not exist"),
    ],
)
def test_a_run_without_usable_weights_is_refused(entry: str, message: str, tmp_path: Path) -> None:
    sets = [f"views.augmentations=[{{name: random_resized_crop}}, {entry}]"]
    with pytest.raises(UsageError, match=message) as caught:
        pretrain("moco-v2-shapes", Shapes("train", count=256), tmp_path / "run", sets=sets)
    assert "\n" not in str(caught.value) and not (tmp_path / "run").exists()


def test_the_weights_belong_to_the_identity_of_a_training(run: Path) -> None:
    entries = f"{{name: random_resized_crop}}, {{name: pix2pix, weights: '{run}', p: 1}}"
    recipe = load_recipe("moco-v2-shapes", [f"views.augmentations=[{entries}]"])
    source = Shapes("train", count=8)
    before = training_key(recipe, source)
    assert training_key(recipe, source) == before
    weights = run / "generator.safetensors"
    tensors = load_file(weights)
    save_file({name: tensor + 1 for name, tensor in tensors.items()}, weights)
    assert training_key(recipe, source) != before
