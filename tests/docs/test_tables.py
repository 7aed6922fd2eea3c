"""The tables of the documentation say what the code says."""

import pkgutil
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticUndefined

import unshortcut.cli
from tests.docs.markdown import ROOT, tables
from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.build.operation import Operation
from unshortcut.cli.filter import command as filter_command
from unshortcut.data.named import NAMES
from unshortcut.data.shapes import SHAPE_NAMES, TEXTURE_NAMES, UNSEEN_TEXTURE_NAMES
from unshortcut.data.shapes.source import COUNTS, FACTORS
from unshortcut.data.tree import IMAGE_EXTENSIONS
from unshortcut.discovery import find_all
from unshortcut.losses.loss import Loss
from unshortcut.measurements.measurement import measurements
from unshortcut.methods.method import MethodSettings
from unshortcut.negatives.source import NegativeSettings
from unshortcut.parts import part_to_mapping
from unshortcut.recipes.catalog import GROUPS, recipe_infos
from unshortcut.recipes.reading import read_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.training.resume import HARMLESS
from unshortcut.translation.generator import GeneratorSettings
from unshortcut.views.objects import ObjectViews

RECIPES = ROOT / "docs" / "recipes.md"
DATA = ROOT / "docs" / "data.md"
TEXTURE = ROOT / "docs" / "texture.md"
REQUIRED = "required"
OPERATIONS = find_all("unshortcut.build.operations", Operation)  # type: ignore[type-abstract]

PACKAGES: dict[str, type] = {
    "unshortcut.methods": MethodSettings,
    "unshortcut.translation": GeneratorSettings,
    "unshortcut.negatives": NegativeSettings,
    "unshortcut.losses": Loss,
    "unshortcut.augmentations": Augmentation,
}


def titled_parts() -> dict[str, type]:
    """Every part by its title: its name and, if an earlier part has the same one, its kind."""
    found: dict[str, type] = {}
    for package, base in PACKAGES.items():
        kind = package.rpartition(".")[2].removesuffix("s")
        for name, part in find_all(package, base).items():
            found[f"{name} ({kind})" if name in found else name] = part
    return found


PARTS = titled_parts()


def schema_keys(model: type[BaseModel] = Recipe, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of a recipe with its default as plain values."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from schema_keys(kind, f"{path}{name}.")
            continue
        default = field.get_default(call_default_factory=True)
        if isinstance(default, MethodSettings):
            default = {"name": part_to_mapping(default)["name"]}
        required = default is PydanticUndefined
        yield path + name, REQUIRED if required else plain(default)


def plain(value: Any) -> Any:
    return TypeAdapter(Any).dump_python(value, mode="json")


def documented(heading: str, document: Path = RECIPES) -> dict[str, Any]:
    """Key to default of a table of settings."""
    rows = tables(document).get(heading, [])
    return {key.strip("`"): yaml.safe_load(default.strip("`")) for key, default, _ in rows}


def test_every_key_of_a_recipe_is_documented_with_its_default() -> None:
    headings = ("The recipe", "data", "views", "encoder", "method", "optimizer", "schedule")
    found = {key: d for h in (*headings, "training") for key, d in documented(h).items()}
    assert found == dict(schema_keys())


@pytest.mark.parametrize("name", PARTS)
def test_every_setting_of_a_part_is_documented_with_its_default(name: str) -> None:
    part: Any = PARTS[name]
    heading = f"#### `{part.name}`{name.removeprefix(part.name)}\n"
    assert heading in RECIPES.read_text(encoding="utf-8")
    assert not [f.name for f in fields(part) if f.default is f.default_factory is MISSING]
    settings = part_to_mapping(part())
    assert documented(name) == {key: settings[key] for key in settings if key != "name"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_method_of_filter_is_documented_with_its_settings(name: str) -> None:
    settings = part_to_mapping(OPERATIONS[name]())
    assert f"#### `{name}`" in TEXTURE.read_text(encoding="utf-8")
    assert documented(name, TEXTURE) == {k: settings[k] for k in settings if k != "name"}
    assert f"- {name}: " in (filter_command.__doc__ or ""), "--help lists it"


def test_every_recipe_is_listed_in_its_group_with_the_row_of_its_paper() -> None:
    for group in {info.group for info in recipe_infos()}:
        rows = {name.strip("`"): paper for name, paper, _ in tables(RECIPES)[GROUPS[group]]}
        assert rows == {
            info.name: (read_recipe(info.name).get("paper") or {}).get("where", "")
            for info in recipe_infos()
            if info.group == group
        }


def test_the_changes_that_a_resumed_run_may_have_are_listed() -> None:
    section = RECIPES.read_text(encoding="utf-8").partition("## Resuming")[2]
    listed = section.split("\n\n")[2]
    assert {key.strip("`") for key in listed.split(", ")} == HARMLESS


def test_every_command_is_in_the_readme() -> None:
    rows = tables(ROOT / "README.md")["The command line"]
    listed = {row[0].strip("`").split()[1] for row in rows} - {"--version"}
    found = pkgutil.iter_modules(unshortcut.cli.__path__)
    modules = {module.name for module in found if not module.name.startswith("_")}
    assert listed == modules - {"main", "options", "renamed"}


def test_the_splits_of_shapes_are_listed_with_their_sizes() -> None:
    listed: dict[str, int] = {}
    for splits, counts, _ in tables(DATA)["The embedded shapes"]:
        for split, count in zip(splits.split(", "), counts.split(", "), strict=True):
            listed[split.strip("`")] = int(count)
    assert listed == COUNTS


def test_names_of_data_shapes_textures_labels_and_extensions_are_listed() -> None:
    text = DATA.read_text(encoding="utf-8")
    for name in (*NAMES, *SHAPE_NAMES, *TEXTURE_NAMES, *UNSEEN_TEXTURE_NAMES, *FACTORS):
        assert f"`{name}`" in text, name
    extensions = text.partition("image's extension (`")[2].partition("`")[0]
    assert set(extensions.split()) == IMAGE_EXTENSIONS


def test_every_measurement_is_in_the_documentation_with_its_metrics() -> None:
    known = {
        f"`{one.name}`": [one.question, ", ".join(f"`{metric}`" for metric in one.gives)]
        for one in measurements().values()
    }
    rows = tables(ROOT / "docs" / "audit.md")["Measurements"]
    assert {name: rest for name, *rest in rows} == known


def test_every_setting_of_views_of_objects_is_documented_with_its_default() -> None:
    defaults = TypeAdapter(ObjectViews).dump_python(ObjectViews(), mode="json")
    assert documented("Object-aware crops", ROOT / "docs" / "scenes.md") == defaults
