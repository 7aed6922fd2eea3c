"""Every row of the tables on non-semantic negatives is a recipe with the paper's settings."""

from typing import Any

import numpy as np
import pytest

from tests.small import PlainEncoder
from unshortcut.data.source import ArrayImage
from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.schema import Recipe
from unshortcut.training.fit import preprocessing

ORIGINAL = (0.03, 128, 0.999, 200)
IFM = (0.8, 512, 0.99, 200)
IMAGENET = (0.03, 256, 0.999, 200)

ROBUST = ["imagenet_c", "imagenet_sketch", "stylized_imagenet", "imagenet_r"]
TABLE_1 = ["imagenet100_top1", *ROBUST]
TABLE_8 = ["imagenet_top1", "imagenet_c_mce", *ROBUST[1:]]
COLUMNS = {*TABLE_1, *TABLE_8}

MOCO_ROWS = [
    # recipe, (lr, batch, momentum, epochs), k, (source, alpha), columns
    ("moco-v2-imagenet100", ORIGINAL, 16384, None, TABLE_1),
    ("moco-v2-texture-a2-imagenet100", ORIGINAL, 16384, ("texture", 2), TABLE_1),
    ("moco-v2-patch-a2-imagenet100", ORIGINAL, 16384, ("patch", 2), TABLE_1),
    ("moco-v2-patch-a3-imagenet100", ORIGINAL, 16384, ("patch", 3), TABLE_1),
    ("moco-v2-k8192-imagenet100", ORIGINAL, 8192, None, TABLE_1),
    ("moco-v2-patch-a2-k8192-imagenet100", ORIGINAL, 8192, ("patch", 2), TABLE_1),
    ("moco-v2-ifm-imagenet100", IFM, 65536, None, TABLE_1[:-1]),
    ("moco-v2-ifm-patch-a2-imagenet100", IFM, 16384, ("patch", 2), TABLE_1),
    # the table in the README of the authors' code
    ("moco-v2-ifm-patch-a2-k65536-imagenet100", IFM, 65536, ("patch", 2), TABLE_1),
    # tables 2 and 8
    ("moco-v2-imagenet", IMAGENET, 65536, None, TABLE_8),
    ("moco-v2-patch-a2-imagenet", IMAGENET, 65536, ("patch", 2), TABLE_8),
    ("moco-v2-patch-a3-imagenet", IMAGENET, 65536, ("patch", 3), TABLE_8),
    ("moco-v2-patch-a2-k32768-imagenet", IMAGENET, 32768, ("patch", 2), TABLE_8),
    ("moco-v2-patch-a2-k16384-imagenet", IMAGENET, 16384, ("patch", 2), TABLE_8),
]


@pytest.mark.parametrize(("name", "setting", "k", "source", "columns"), MOCO_ROWS)
def test_a_row_of_moco(
    name: str, setting: tuple[float, ...], k: int, source: Any, columns: list[str]
) -> None:
    recipe = load_recipe(name)
    method = method_of(recipe)
    queue, *others = method["negatives"]
    assert (queue["name"], queue["size"]) == ("queue", k)
    assert [(other["name"], other["alpha"]) for other in others] == ([source] if source else [])
    assert all(other["placement"] == "inside" and other["count"] == 1 for other in others)
    assert method["loss"] == {"name": "info_nce", "temperature": 0.2}
    optimizer, epochs = recipe.optimizer, recipe.schedule.epochs
    assert (optimizer.lr, recipe.data.batch_size, method["momentum"], epochs) == setting
    assert [*main_metrics(recipe)] == columns


@pytest.mark.parametrize("name", [name for name, setting, *_ in MOCO_ROWS if setting == ORIGINAL])
def test_a_row_of_table_5_has_the_mean_over_severities_that_table_1_has(name: str) -> None:
    paper = load_recipe(name).paper
    assert paper is not None
    levels = [paper.metrics[f"imagenet_c_severity{level}"] for level in range(1, 6)]
    assert sorted(levels, reverse=True) == levels
    assert sum(levels) / 5 == pytest.approx(paper.metrics["imagenet_c"], abs=0.011)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.2])
def test_an_ifm_row_differs_from_its_baseline_in_the_loss_only(epsilon: float) -> None:
    recipe = load_recipe(f"moco-v2-ifm-e{epsilon}-imagenet100")
    method, baseline = method_of(recipe), method_of(load_recipe("moco-v2-ifm-imagenet100"))
    assert method.pop("loss") == {"name": "ifm", "temperature": 0.2, "epsilon": epsilon}
    baseline.pop("loss")
    assert method == baseline
    assert "imagenet100_top1" in main_metrics(recipe)


@pytest.mark.parametrize("hardest", [128, 512])
def test_a_mochi_row_mixes_1024_and_512_after_15_epochs(hardest: int) -> None:
    recipe = load_recipe(f"moco-v2-mochi-{hardest}-1024-512-imagenet")
    (source,) = method_of(recipe)["negatives"]
    assert source == {
        "name": "mixed_queue",
        "size": 65536,
        "hardest": hardest,
        "mixes": 1024,
        "query_mixes": 512,
        "start": 15 / recipe.schedule.epochs,
    }
    assert "imagenet_top1" in main_metrics(recipe)


@pytest.mark.parametrize(
    ("name", "alphas"),
    [
        ("byol-imagenet100", {}),
        ("byol-patch-imagenet100", {"patch": 0.05}),
        ("byol-regular-imagenet100", {"regular": 0.05}),
        ("byol-patch-regular-imagenet100", {"patch": 0.05, "regular": 0.05}),
    ],
)
def test_a_row_of_table_7(name: str, alphas: dict[str, float]) -> None:
    recipe = load_recipe(name)
    method = method_of(recipe)
    assert {source["name"]: source["alpha"] for source in method["negatives"]} == alphas
    assert (method["name"], method["hidden"], method["dim"]) == ("byol", 4096, 256)
    optimizer, batch = recipe.optimizer, recipe.data.batch_size
    assert (optimizer.name, optimizer.lr, optimizer.weight_decay, batch) == (
        "lars",
        4.8,
        1e-6,
        1024,
    )
    assert not optimizer.decay_norm_and_bias
    assert (recipe.schedule.epochs, method["momentum"]) == (300, 0.99)
    assert [*main_metrics(recipe)] == TABLE_1


def test_byols_two_views_differ_in_blur_and_solarization() -> None:
    views = to_mapping(load_recipe("byol-imagenet100"))["views"]
    chances = [
        {entry["name"]: entry.get("p") for entry in pipeline}
        for pipeline in (views["augmentations"], views["overrides"]["key"])
    ]
    assert [view["gaussian_blur"] for view in chances] == [1.0, 0.1]
    assert [view.get("solarize", 0) for view in chances] == [0, 0.2]
    shared = {"random_resized_crop", "horizontal_flip", "color_jitter", "grayscale"}
    assert all(chances[0][name] == chances[1][name] for name in shared)


FLIPS = ("", "-flip", "-flip-vflip", "-flip-vflip-rotate")


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("size", [(8, 28), (16, 72)])
def test_a_cell_of_table_6_adds_one_change_of_patches_to_the_last(
    size: tuple[int, int], column: int
) -> None:
    small = "-8-28" if size == (8, 28) else ""
    plain = "" if small or column else "-a2"
    recipe = load_recipe(f"moco-v2-patch{small}{plain}{FLIPS[column]}-imagenet100")
    patch = method_of(recipe)["negatives"][1]
    assert (patch["flip"], patch["vertical_flip"], patch["rotate"]) == tuple(
        column >= change for change in (1, 2, 3)
    )
    transform = recipe.method.view_transforms()["patch_negative"]
    assert (patch["patch"] or [16, 72], transform.of) == ([*size], "query")  # type: ignore[attr-defined]
    assert patch["alpha"] == 2
    assert "imagenet100_top1" in main_metrics(recipe)


def test_table_3_only_takes_the_jitter_away() -> None:
    plain, patch = (load_recipe(f"moco-v2-{part}no-jitter-imagenet100") for part in ("", "patch-"))
    assert [*main_metrics(plain)] == [*main_metrics(patch)] == ["imagenet100_top1"]
    full = load_recipe("moco-v2-patch-a2-imagenet100")
    kept = [entry for entry in full.views.augmentations if entry.name != "color_jitter"]
    assert patch.views.augmentations == plain.views.augmentations == kept
    assert patch.method == full.method


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("simclr-stl10", {"name": "info_nce"}),
        ("simclr-debiased-stl10", {"name": "debiased", "positive_share": 0.1}),
        ("simclr-hard-stl10", {"name": "hard", "positive_share": 0.1, "beta": 1}),
    ],
)
def test_a_simclr_row_of_table_4(name: str, loss: dict[str, Any]) -> None:
    recipe = load_recipe(name)
    assert method_of(recipe)["loss"] == {"temperature": 0.5, **loss}
    assert (recipe.optimizer.lr, recipe.data.batch_size, recipe.schedule.epochs) == (1e-3, 256, 400)
    assert [*main_metrics(recipe)] == ["stl10_top1"]
    # as the published code of the debiased loss has them
    assert preprocessing(recipe).size == 96 and preprocessing(recipe).crop_share == 1
    assert recipe.views.augmentations[0].size == 32  # type: ignore[attr-defined]
    assert recipe.views.augmentations[-1].kernel_size == 3  # type: ignore[attr-defined]
    head = recipe.method.build(PlainEncoder()).head.layers  # type: ignore[attr-defined]
    assert [type(layer).__name__ for layer in head] == ["Linear", "BatchNorm1d", "ReLU", "Linear"]
    assert (head[0].bias, head[3].bias is None) == (None, False)


def test_stl10_is_evaluated_on_its_images_as_they_are() -> None:
    image = np.random.default_rng(0).integers(0, 256, (96, 96, 3), dtype=np.uint8)
    view = preprocessing(load_recipe("simclr-stl10")).view
    np.testing.assert_array_equal(view(ArrayImage(image), 0, 0, 0)["image"], image)


@pytest.mark.parametrize(
    "name",
    [
        "moco-v2-lr0.3-imagenet",
        "moco-v2-anisotropic-imagenet",
        "moco-v2-anisotropic-doubled-imagenet",
        "moco-v2-stylized-imagenet",
    ],
)
def test_texture_suppression_has_the_optimizer_of_section_2_8(name: str) -> None:
    recipe, moco = load_recipe(name), load_recipe("moco-v2-imagenet")
    optimizer = recipe.optimizer
    assert (optimizer.name, optimizer.lr, optimizer.momentum) == ("sgd", 0.3, 0.9)
    assert (optimizer.weight_decay, recipe.data.batch_size) == (5e-4, 256)
    assert recipe.method == moco.method


def test_mocos_own_model_has_the_figures_that_table_2_1_prints_for_it() -> None:
    paper = load_recipe("moco-v2-imagenet").paper
    assert paper is not None
    voc = ("voc_ap50", "voc_ap", "voc_ap75", "voc_miou")
    assert [paper.metrics[name] for name in voc] == [82.4, 57.0, 63.6, 67.5]
    assert load_recipe("moco-v2-lr0.3-imagenet").paper is None


def test_patch_negatives_on_stl10_are_as_on_imagenet100() -> None:
    recipe, other = load_recipe("moco-v2-patch-stl10"), load_recipe("moco-v2-patch-a2-imagenet100")
    assert (recipe.method, recipe.optimizer) == (other.method, other.optimizer)
    assert [*main_metrics(recipe)] == ["stl10_top1"]


def method_of(recipe: Recipe) -> dict[str, Any]:
    method: dict[str, Any] = to_mapping(recipe)["method"]
    return method


def main_metrics(recipe: Recipe) -> dict[str, float]:
    """The metrics of the paper without those of single severities and of another paper."""
    assert recipe.paper is not None
    metrics = recipe.paper.metrics
    return {name: value for name, value in metrics.items() if name in (*COLUMNS, "stl10_top1")}
