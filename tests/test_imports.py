"""Imports go one way: a package knows only the packages above it in the design's list."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unshortcut"
ORDER = (
    "imaging", "data", "augmentations", "views", "inference", "models", "losses", "negatives",
    "methods", "recipes", "probes", "training", "transfer", "spaces", "measuring", "measurements",
    "auditing", "build", "report", "auditor", "reproduction", "demonstration", "cli",
)  # fmt: skip
FILES = sorted(SOURCE.rglob("*.py"))


def imported_packages(path: Path) -> set[str]:
    """Packages of the project that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("unshortcut.")}
    return found & set(ORDER)


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(SOURCE)) for p in FILES])
def test_a_file_imports_only_from_above(path: Path) -> None:
    place = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    imports = imported_packages(path)
    if place == "__init__":
        return  # the front door opens on everything, lazily
    if place not in ORDER:
        assert not imports, f"{place} is at the bottom, and imports {imports}"
        return
    below = {name for name in imports if ORDER.index(name) > ORDER.index(place)}
    assert not below, f"{place} may not import {below}"


def test_every_package_has_its_place() -> None:
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(ORDER)


def imported_names(path: Path) -> set[str]:
    """Everything that a file imports, anywhere in it, by its full name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_objectives_know_no_ranks() -> None:
    for path in (SOURCE / "losses").glob("*.py"):
        assert not any("distributed" in name.split(".") for name in imported_names(path)), path


def test_imaging_is_functions_on_arrays_and_tensors_and_knows_no_modules() -> None:
    for path in (SOURCE / "imaging").glob("*.py"):
        for name in imported_names(path):
            assert not name.startswith(("torch.nn", "torchvision", "timm", "lightning")) or (
                name.startswith("torch.nn.functional")
            ), path
