"""Imports go one way: a package knows only the packages above it in the design's list."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unshortcut"
ORDER = (
    "imaging", "data", "views", "models", "objectives", "methods", "recipes", "probes", "training",
    "transfer", "audit", "build", "report", "demonstration", "cli",
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


def test_objectives_know_no_ranks_and_imaging_no_torch() -> None:
    for folder, forbidden in (("objectives", "distributed"), ("imaging", "torch")):
        for path in (SOURCE / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    assert forbidden not in (node.module or "").split("."), path
                if isinstance(node, ast.Import):
                    assert all(forbidden not in a.name.split(".") for a in node.names), path
