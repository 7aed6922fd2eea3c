"""Imports go one way: a package imports only from the packages before it in `ORDER`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unshortcut"
ORDER = (
    "imaging", "data", "translation", "augmentations", "views", "inference", "models", "losses",
    "negatives", "methods", "recipes", "probes", "training", "transfer", "spaces", "properties",
    "measuring", "measurements", "auditing", "build", "report", "auditor", "embedder", "inspection",
    "fixing", "reproduction", "demonstration", "listings", "cli",
)  # fmt: skip
"""Modules that are not listed are at the bottom: they import no package."""
BY_NAME = {"discovery.py", "parts.py", "models/load.py", "cli/main.py"}
"""Files that import modules whose names they compute; what they find is in their caller's hands."""
FILES = sorted(SOURCE.rglob("*.py"))
MODULE = re.compile(r"unshortcut(\.[a-z_]\w*)+\.?(:\w+)?")


def imported(path: Path) -> Iterator[str]:
    """Full dotted names of all that a file imports, anywhere in it, also by a string.

    A string counts where it is the name of a module of the project: the argument of
    `importlib.import_module`, `PartOf` or `find_all`.
    """
    package = ["unshortcut", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and MODULE.fullmatch(str(node.value)):
            yield str(node.value)


def imported_packages(path: Path) -> set[str]:
    """Packages of the project, or single modules of it, that a file imports."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("unshortcut.")}


def below(path: Path) -> set[str]:
    """Packages that a file imports although they come after its own."""
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    allowed = ORDER[: ORDER.index(own) + 1] if own in ORDER else ()
    return (imported_packages(path) & set(ORDER)) - set(allowed)


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(SOURCE)) for p in FILES])
def test_a_file_imports_only_from_packages_before_its_own(path: Path) -> None:
    assert not below(path)
    from_the_top = imported_packages(path) - {entry.stem for entry in SOURCE.iterdir()} - {"json"}
    assert not from_the_top, "import from the module that defines a name, not from `unshortcut`"


@pytest.mark.parametrize(
    "code",
    [
        "import unshortcut.cli.main",
        "from unshortcut import recipes",
        "from ..recipes import load",
        "def f():\n    from unshortcut.recipes.load import load_recipe",
        "import importlib\nimportlib.import_module('unshortcut.recipes.load')",
        "AnyPart = PartOf('unshortcut.methods', Part, 'part')",
        "importlib.import_module(f'unshortcut.cli.{name}')",
    ],
)
def test_every_way_to_import_is_seen(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_imports.SOURCE", tmp_path)
    path = tmp_path / "data" / "nested" / "file.py"
    if code.startswith("from .."):
        path = tmp_path / "data" / "file.py"
    path.parent.mkdir(parents=True)
    path.write_text(code)
    assert below(path)


def test_modules_are_imported_by_a_computed_name_only_where_that_is_listed() -> None:
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            name = getattr(called, "attr", getattr(called, "id", None))
            if name in ("import_module", "__import__"):
                assert isinstance(node, ast.Call)
                if not isinstance(node.args[0], ast.Constant):
                    found.add(str(path.relative_to(SOURCE)))
    assert found <= BY_NAME


def test_every_package_is_in_the_order() -> None:
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(ORDER)


def test_losses_do_not_know_of_ranks() -> None:
    for path in (SOURCE / "losses").rglob("*.py"):
        assert not any("distributed" in name.split(".") for name in imported(path)), path


def test_imaging_is_functions_on_arrays_and_tensors_without_modules() -> None:
    for path in (SOURCE / "imaging").rglob("*.py"):
        for name in imported(path):
            assert not name.startswith(("torch.nn", "torchvision", "timm", "lightning")) or (
                name.startswith("torch.nn.functional")
            ), path
