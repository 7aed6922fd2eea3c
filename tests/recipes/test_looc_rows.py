"""Every row of the leave-one-out tables is a recipe with the paper's settings and metrics."""

import re
from typing import Any

import pytest

from unshortcut.recipes.load import load_recipe, to_mapping
from unshortcut.recipes.schema import Recipe

IN100 = ["imagenet100_top1", "imagenet100_top5"]
INAT = ["inat_top1", "inat_top5"]
FEW = ["flowers_5shot", "flowers_5shot_ci95", "flowers_10shot", "flowers_10shot_ci95"]
CORRUPTIONS = ["noise", "blur", "weather", "digital"]
TABLE_5 = [*IN100, *INAT, *FEW, "imagenet_c100"]

TABLES: dict[str, tuple[list[str], list[str]]] = {
    # table: columns, recipes of the rows
    "1": (["rotation", *IN100], [
        "supervised-500ep-imagenet100",
        "moco-v2-500ep-imagenet100",
        "moco-v2-rotation-500ep-imagenet100",
        "moco-v2-same-rotation-500ep-imagenet100",
        "looc-rotation-imagenet100",
    ]),
    "2": ([*INAT, "cub_top1", "cub_top5", *FEW, *IN100], [
        "moco-v2-500ep-imagenet100",
        "looc-color-imagenet100",
        "looc-rotation-imagenet100",
        "looc-color-rotation-imagenet100",
        "looc-pp-color-rotation-imagenet100",
    ]),
    "3": (["objectnet13_top1", "objectnet13_top5",
           *(f"imagenet_c100_{kind}" for kind in CORRUPTIONS),
           "imagenet_c100", "imagenet_c100_severe", *IN100], [
        "supervised-500ep-imagenet100",
        "moco-v2-500ep-imagenet100",
        "looc-rotation-imagenet100",
        "looc-texture-imagenet100",
        "looc-rotation-texture-imagenet100",
        "looc-pp-rotation-texture-imagenet100",
    ]),
    # the first two rows of table 4 are mostly illegible in the text of the paper
    "4": (TABLE_5, [
        "moco-pp-color-rotation-texture-imagenet100",
        "looc-pp-color-rotation-texture-imagenet100",
    ]),
    "4, what is legible": (FEW[2:], [
        "moco-v2-color-rotation-texture-500ep-imagenet100",
        "looc-color-rotation-texture-imagenet100",
    ]),
    "5": (
        [f"{subset}{column}"
         for subset in ("invariant_", "invariant_color_", "invariant_rotation_",
                        "invariant_texture_", "")
         for column in TABLE_5],
        ["looc-pp-color-rotation-texture-imagenet100"],
    ),
    "E.1": (IN100, [
        "moco-v2-500ep-imagenet100",
        "moco-v2-rotation-500ep-imagenet100",
        "looc-add-one-color-imagenet100",
        "looc-add-one-rotation-imagenet100",
        "looc-color-imagenet100",
        "looc-rotation-imagenet100",
    ]),
}  # fmt: skip

ROWS = sorted({name for _, rows in TABLES.values() for name in rows})
CONTRASTIVE = [name for name in ROWS if not name.startswith("supervised")]

SPACES = {
    "color": ["color_jitter", "grayscale"],
    "rotation": ["rotation"],
    "texture": ["texture_randomization"],
    "diffusion": ["anisotropic_diffusion"],
}
JITTER = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1, "p": 0.8}
RATES = {"texture_randomization": 0.5, "rotation": 0.5, "color_jitter": 0.8, "grayscale": 0.2,
         "gaussian_blur": 0.5, "horizontal_flip": 0.5}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_the_columns_of_its_tables_and_no_others(name: str) -> None:
    paper = load_recipe(name).paper
    assert paper is not None
    assert set(paper.metrics) == {
        column for columns, rows in TABLES.values() if name in rows for column in columns
    }
    assert all(0 < value < 100 for value in paper.metrics.values())
    for top1 in (key for key in paper.metrics if key.endswith("_top1")):
        assert paper.metrics[top1] < paper.metrics[top1.replace("_top1", "_top5")]
    tables = {table.split(",")[0] for table, (_, rows) in TABLES.items() if name in rows}
    stated = re.match("leave-one-out contrastive learning, tables? (.+), ", paper.where)
    assert stated and tables == set(re.findall(r"\b(?:\d|E\.1)(?=,| and|$)", stated[1]))


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_a_row_is_trained_as_section_4_and_moco_say(name: str) -> None:
    recipe = load_recipe(name)
    method, optimizer, schedule = method_of(recipe), recipe.optimizer, recipe.schedule
    assert (recipe.data.name, recipe.data.batch_size) == ("imagenet100", 256)
    assert (recipe.encoder.name, recipe.encoder.options) == (
        "resnet50",
        {"zero_init_last": False},
    )
    assert (optimizer.name, optimizer.lr, optimizer.momentum) == ("sgd", 0.03, 0.9)
    assert optimizer.weight_decay == 1e-4
    assert (schedule.epochs, schedule.kind, schedule.warmup_epochs) == (500, "step", 0)
    assert (schedule.milestones, schedule.gamma) == ([300, 400], 0.1)
    assert (method["momentum"], method["hidden"], method["dim"]) == (0.999, 2048, 128)
    assert not method["head_batch_norm"]
    assert method["loss"] == {"name": "info_nce", "temperature": 0.2}
    assert method["negatives"][0] == {"name": "queue", "size": 16384}


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_a_row_has_the_augmentations_of_its_name_and_appendix_a(name: str) -> None:
    views = to_mapping(load_recipe(name))["views"]
    first, *others = views["augmentations"]
    assert (first["name"], first["size"], first["scale"]) == ("random_resized_crop", 224, [0.2, 1])
    # color always changes, whether it has a space or not
    unasked = {kind for kind in ("texture", "rotation") if kind not in name}
    expected = [entry for entry in RATES if entry.partition("_")[0] not in unasked]
    names = [entry["name"] for entry in others]
    assert sorted(names) == sorted(expected)
    # a flip after a turn would make a quarter turn one way look like one the other way
    assert "rotation" not in names or names.index("horizontal_flip") < names.index("rotation")
    assert all(entry["p"] == RATES[entry["name"]] for entry in others)
    (jitter,) = (entry for entry in others if entry["name"] == "color_jitter")
    assert {key: jitter[key] for key in JITTER} == JITTER
    assert not views["overrides"]


def test_the_supervised_row_is_trained_as_long() -> None:
    recipe, short = (load_recipe(f"supervised{x}-imagenet100") for x in ("-500ep", ""))
    assert (recipe.schedule.epochs, recipe.schedule.kind) == (500, "step")
    assert (recipe.schedule.milestones, recipe.data.batch_size) == ([300, 400], 256)
    assert (recipe.method, recipe.views) == (short.method, short.views)
    assert list(recipe.view_plan().transforms) == ["query"]


LOOC = {
    # recipe without its data: spaces, branches
    "looc-color": ("color", 1),
    "looc-rotation": ("rotation", 1),
    "looc-color-rotation": ("color rotation", 1),
    "looc-pp-color-rotation": ("color rotation", 3),
    "looc-add-one-color": ("color", 1),
    "looc-add-one-rotation": ("rotation", 1),
}
LARGE = {
    **LOOC,
    "looc-texture": ("texture", 1),
    "looc-rotation-texture": ("rotation texture", 1),
    "looc-color-rotation-texture": ("color rotation texture", 1),
    "looc-pp-rotation-texture": ("rotation texture", 3),
    "looc-pp-color-rotation-texture": ("color rotation texture", 4),
}
SMALL = {
    **LOOC,
    "looc-patch": ("rotation", 1),
    "looc-batch": ("rotation", 1),
    "looc-anisotropic": ("diffusion", 1),
}
NETTE = {name: LOOC[name] for name in ("looc-rotation", "looc-color-rotation")}
DESIGNATED = [
    (f"{name}-{data}", spaces.split(), branches)
    for data, rows in (("imagenet100", LARGE), ("shapes", SMALL), ("imagenette", NETTE))
    for name, (spaces, branches) in rows.items()
]


@pytest.mark.parametrize(("name", "spaces", "branches"), DESIGNATED)
def test_a_space_is_designated_and_has_a_key_of_its_own(
    name: str, spaces: list[str], branches: int
) -> None:
    recipe = load_recipe(name)
    method = method_of(recipe)
    assert method["name"] == "looc"
    assert list(method["spaces"].items()) == [(space, SPACES[space]) for space in spaces]
    assert recipe.encoder.branches == branches
    keys = [f"key_{space}" for space in spaces]
    extra = ["patch_negative"] if "patch" in name else []
    assert {*recipe.view_plan().transforms} == {"query", "key", *keys, *extra}
    assert method["strategy"] == ("add_one" if "add-one" in name else "leave_one_out")


@pytest.mark.parametrize("name", [name for name, _, _ in DESIGNATED])
def test_other_keys_are_negatives_wherever_the_query_has_the_augmentation(name: str) -> None:
    sources = method_of(load_recipe(name))["negatives"]
    others = [source for source in sources if source["name"] == "other_keys"]
    assert len(others) == (0 if "add-one" in name else 1)
    if name in ROWS:
        # equation 2 counts equal draws too, and weighs these negatives as all others
        assert all((other["equal_params"], other["alpha"]) == ("keep", 1) for other in others)


@pytest.mark.parametrize(
    ("name", "branches"),
    [("moco-pp-color-rotation-texture-imagenet100", 4), ("moco-pp-color-rotation-shapes", 3)],
)
def test_moco_pp_has_as_many_branches_as_looc_pp_and_no_designated_space(
    name: str, branches: int
) -> None:
    recipe, other = load_recipe(name), load_recipe(name.replace("moco", "looc"))
    method = method_of(recipe)
    assert recipe.encoder == other.encoder
    assert recipe.encoder.branches == branches == len(method["spaces"]) + 1
    assert not any(method["spaces"].values())
    assert sources_of(recipe) == ["queue"]
    assert list(recipe.view_plan().transforms) == ["query", "key"]
    assert recipe.views == other.views


@pytest.mark.parametrize("data", ["500ep-imagenet100", "shapes", "imagenette"])
def test_rotation_is_all_that_the_rotation_baselines_add(data: str) -> None:
    plain, turned, same = (
        to_mapping(load_recipe(f"moco-v2{part}-{data}"))
        for part in ("", "-rotation", "-same-rotation")
    )
    crop, *rest = plain["views"]["augmentations"]
    rotation = {"name": "rotation", "angles": [90, 180, 270], "p": 0.5}
    (flip,) = (one for one in rest if one["name"] == "horizontal_flip")
    rest.remove(flip)
    assert turned["views"]["augmentations"] == [crop, flip, rotation, *rest]
    assert same["views"] == turned["views"]
    assert (turned["method"]["shared"], same["method"]["shared"]) == ([], ["rotation"])
    for one in (plain, turned, same):
        one["method"].pop("shared")
    assert plain["method"] == turned["method"] == same["method"]
    assert list(load_recipe(f"moco-v2-same-rotation-{data}").view_plan().transforms) == [
        "query",
        "key",
    ]


@pytest.mark.parametrize("data", ["500ep-imagenet100", "shapes", "imagenette"])
def test_looc_and_its_baseline_differ_in_the_method_only(data: str) -> None:
    looc = load_recipe(f"looc-rotation-{data.removeprefix('500ep-')}")
    moco = load_recipe(f"moco-v2-rotation-{data}")
    assert (looc.views, looc.encoder, looc.data) == (moco.views, moco.encoder, moco.data)
    ours, theirs = method_of(looc), method_of(moco)
    assert ours.pop("negatives")[:1] == theirs.pop("negatives")
    assert {**theirs, "name": "looc"}.items() <= ours.items()


def test_combinations_are_made_of_parts_that_others_use() -> None:
    patch, batch, diffusion, plain = (
        load_recipe(f"looc-{name}-shapes") for name in ("patch", "batch", "anisotropic", "rotation")
    )
    assert {type(r.method) for r in (patch, batch, diffusion)} == {type(plain.method)}
    assert sources_of(plain) == sources_of(diffusion) == ["queue", "other_keys"]
    assert sources_of(patch) == ["queue", "other_keys", "patch"]
    assert sources_of(batch) == ["batch", "other_keys"]
    assert diffusion.views == load_recipe("moco-v2-anisotropic-shapes").views
    assert patch.views == batch.views == plain.views


def method_of(recipe: Recipe) -> dict[str, Any]:
    method: dict[str, Any] = to_mapping(recipe)["method"]
    return method


def sources_of(recipe: Recipe) -> list[str]:
    return [source["name"] for source in method_of(recipe)["negatives"]]
