"""Every row of the tables on non-semantic negatives is a recipe with the paper's settings."""

from typing import Any

import pytest

from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.schema import Recipe

ORIGINAL = (0.03, 128, 0.999, 200)
IFM = (0.8, 512, 0.99, 200)
IMAGENET = (0.03, 256, 0.999, 200)

MOCO_ROWS = [
    # table 1: recipe, (lr, batch, momentum, epochs), k, (source, alpha), top-1, C, S, stylized, R
    ("moco-v2-imagenet100", ORIGINAL, 16384, None, 77.88, 43.08, 28.24, 16.20, 32.92),
    ("moco-v2-texture-a2-imagenet100", ORIGINAL, 16384, ("texture", 2),
     77.76, 43.58, 29.11, 16.59, 33.36),
    ("moco-v2-patch-a2-imagenet100", ORIGINAL, 16384, ("patch", 2),
     79.35, 45.13, 31.76, 17.37, 34.78),
    ("moco-v2-patch-a3-imagenet100", ORIGINAL, 16384, ("patch", 3),
     75.58, 44.45, 34.03, 18.60, 36.89),
    ("moco-v2-k8192-imagenet100", ORIGINAL, 8192, None, 77.73, 43.22, 28.45, 16.83, 33.19),
    ("moco-v2-patch-a2-k8192-imagenet100", ORIGINAL, 8192, ("patch", 2),
     79.54, 45.48, 33.36, 17.81, 36.31),
    ("moco-v2-ifm-imagenet100", IFM, 65536, None, 80.00, 45.15, 30.38, 16.68, None),
    ("moco-v2-ifm-patch-a2-imagenet100", IFM, 16384, ("patch", 2),
     81.49, 47.48, 34.20, 17.95, 38.45),
    # the table in the README of the authors' code
    ("moco-v2-ifm-patch-a2-k65536-imagenet100", IFM, 65536, ("patch", 2),
     81.18, 46.74, 32.46, 17.63, 36.66),
    # tables 2 and 8, with mCE for C
    ("moco-v2-imagenet", IMAGENET, 65536, None, 67.60, 87.7, 17.47, 5.55, 27.81),
    ("moco-v2-patch-a2-imagenet", IMAGENET, 65536, ("patch", 2), 67.92, 87.6, 18.58, 6.34, 28.95),
    ("moco-v2-patch-a3-imagenet", IMAGENET, 65536, ("patch", 3), 60.80, 92.1, 18.79, 6.80, 28.11),
    ("moco-v2-patch-a2-k32768-imagenet", IMAGENET, 32768, ("patch", 2),
     67.83, 87.2, 18.70, 6.06, 28.50),
    ("moco-v2-patch-a2-k16384-imagenet", IMAGENET, 16384, ("patch", 2),
     67.34, 87.5, 19.49, 6.49, 29.45),
]  # fmt: skip


@pytest.mark.parametrize(("name", "setting", "k", "source", "metrics"), [
    (name, setting, k, source, metrics) for name, setting, k, source, *metrics in MOCO_ROWS
])  # fmt: skip
def test_a_row_of_moco(
    name: str, setting: tuple[float, ...], k: int, source: Any, metrics: list[float | None]
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
    assert [*main_figures(recipe).values()] == [value for value in metrics if value is not None]


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("moco-v2-imagenet100", [65.58, 53.41, 42.31, 31.87, 22.22]),
        ("moco-v2-texture-a2-imagenet100", [66.00, 54.11, 42.96, 32.23, 22.60]),
        ("moco-v2-patch-a2-imagenet100", [67.84, 55.99, 44.65, 33.74, 23.41]),
        ("moco-v2-patch-a3-imagenet100", [65.82, 54.95, 44.10, 33.67, 23.71]),
        ("moco-v2-k8192-imagenet100", [65.44, 53.52, 42.71, 32.09, 22.36]),
        ("moco-v2-patch-a2-k8192-imagenet100", [68.01, 56.26, 45.04, 34.16, 23.92]),
    ],
)
def test_a_row_of_table_5_has_mean_accuracy_over_severities_of_table_1(
    name: str, metrics: list[float]
) -> None:
    paper = load_recipe(name).paper
    assert paper is not None
    assert [paper.metrics[f"imagenet_c_severity{level}"] for level in range(1, 6)] == metrics
    assert sum(metrics) / 5 == pytest.approx(paper.metrics["imagenet_c"], abs=0.011)


@pytest.mark.parametrize(("epsilon", "top1"), [(0.05, 80.86), (0.1, 81.22), (0.2, 81.02)])
def test_an_ifm_row_differs_from_its_baseline_in_the_objective_only(
    epsilon: float, top1: float
) -> None:
    recipe = load_recipe(f"moco-v2-ifm-e{epsilon}-imagenet100")
    method, baseline = method_of(recipe), method_of(load_recipe("moco-v2-ifm-imagenet100"))
    assert method.pop("loss") == {"name": "ifm", "temperature": 0.2, "epsilon": epsilon}
    baseline.pop("loss")
    assert method == baseline
    assert main_figures(recipe)["imagenet100_top1"] == top1


@pytest.mark.parametrize(("hardest", "top1"), [(128, 66.62), (512, 67.56)])
def test_a_mochi_row_mixes_1024_and_512_after_15_epochs(hardest: int, top1: float) -> None:
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
    assert main_figures(recipe)["imagenet_top1"] == top1


@pytest.mark.parametrize(
    ("name", "alphas", "metrics"),
    [
        ("byol-imagenet100", {}, [78.76, 44.43, 35.84, 15.01, 39.53]),
        ("byol-patch-imagenet100", {"patch": 0.05}, [78.81, 44.60, 36.76, 15.52, 41.16]),
        ("byol-regular-imagenet100", {"regular": 0.05}, [57.22, 24.19, 19.11, 6.74, 20.47]),
        (
            "byol-patch-regular-imagenet100",
            {"patch": 0.05, "regular": 0.05},
            [57.24, 24.37, 20.11, 6.60, 20.95],
        ),
    ],
)
def test_a_row_of_table_7(name: str, alphas: dict[str, float], metrics: list[float]) -> None:
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
    assert [*main_figures(recipe).values()] == metrics


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
TABLE_6 = {(8, 28): (78.58, 78.72, 78.66, 78.64), (16, 72): (79.35, 79.06, 78.92, 78.40)}


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("size", TABLE_6)
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
    maker = recipe.method.view_transforms()["patch_negative"]
    assert (patch["patch"] or [16, 72], maker.of) == ([*size], "query")  # type: ignore[attr-defined]
    assert patch["alpha"] == 2
    assert main_figures(recipe)["imagenet100_top1"] == TABLE_6[size][column]


def test_table_3_only_takes_the_jitter_away() -> None:
    plain, patch = (load_recipe(f"moco-v2-{part}no-jitter-imagenet100") for part in ("", "patch-"))
    assert (main_figures(plain), main_figures(patch)) == (
        {"imagenet100_top1": 70.44},
        {"imagenet100_top1": 76.42},
    )
    full = load_recipe("moco-v2-patch-a2-imagenet100")
    kept = [entry for entry in full.views.augmentations if entry.name != "color_jitter"]
    assert patch.views.augmentations == plain.views.augmentations == kept
    assert patch.method == full.method


@pytest.mark.parametrize(
    ("name", "top1", "loss"),
    [
        ("simclr-stl10", 80.16, {"name": "info_nce"}),
        ("simclr-debiased-stl10", 84.90, {"name": "debiased", "positive_share": 0.1}),
        ("simclr-hard-stl10", 87.42, {"name": "hard", "positive_share": 0.1, "beta": 1}),
    ],
)
def test_a_simclr_row_of_table_4(name: str, top1: float, loss: dict[str, Any]) -> None:
    recipe = load_recipe(name)
    assert method_of(recipe)["loss"] == {"temperature": 0.5, **loss}
    assert (recipe.optimizer.lr, recipe.data.batch_size, recipe.schedule.epochs) == (1e-3, 256, 400)
    assert main_figures(recipe) == {"stl10_top1": top1}


def test_patch_negatives_on_stl10_are_as_on_imagenet100() -> None:
    recipe, other = load_recipe("moco-v2-patch-stl10"), load_recipe("moco-v2-patch-a2-imagenet100")
    assert (recipe.method, recipe.optimizer) == (other.method, other.optimizer)
    assert main_figures(recipe) == {"stl10_top1": 89.36}


def method_of(recipe: Recipe) -> dict[str, Any]:
    method: dict[str, Any] = to_mapping(recipe)["method"]
    return method


def main_figures(recipe: Recipe) -> dict[str, float]:
    """The paper's metrics but those of single severities."""
    assert recipe.paper is not None
    metrics = recipe.paper.metrics
    return {name: value for name, value in metrics.items() if "severity" not in name}
