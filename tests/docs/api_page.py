"""The page `docs/api.md`: public names of every package, with the first line of their docstrings.

`python -m tests.docs.api_page --write` writes it.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import unshortcut
from tests.docs.generated import main

PAGE = Path(__file__).parent.parent.parent / "docs" / "api.md"
_INTRODUCTION = """# Public API

Everything below can be imported from the package under whose heading it stands, for example
`from unshortcut.augmentations import ColorJitter`. Modules are loaded on first use. This page is
written by `python -m tests.docs.api_page --write`.
"""


def public_packages() -> list[ModuleType]:
    """The package itself and those inside it that export names."""
    inner = sorted(one.name for one in pkgutil.iter_modules(unshortcut.__path__) if one.ispkg)
    modules = [unshortcut, *(importlib.import_module(f"unshortcut.{name}") for name in inner)]
    return [module for module in modules if hasattr(module, "__all__")]


def public_names(package: ModuleType) -> list[str]:
    """Names that a package exports, without those such as `__version__`."""
    return [name for name in package.__all__ if not name.startswith("_")]


def first_line(package: ModuleType, name: str) -> str:
    """The first line of the docstring of an exported name."""
    text = inspect.getdoc(getattr(package, name)) or ""
    return text.partition("\n")[0].replace("|", "\\|")


def page() -> str:
    """The text of the page."""
    parts = [_INTRODUCTION]
    for package in public_packages():
        rows = [f"| `{name}` | {first_line(package, name)} |" for name in public_names(package)]
        about = (package.__doc__ or "").partition("\n")[0]
        table = ["| name | what it is |", "| --- | --- |", *rows]
        parts.append(f"## `{package.__name__}`\n\n{about}\n\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main(page(), PAGE, __doc__)
