"""Parts are found by being in their folder: adding one edits no list.

A part is a class with a `name` of its own, defined in a module of a package
(`unshortcut.methods`, `unshortcut.augmentations`, …).
"""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import TypeVar

from unshortcut.errors import unknown

Part = TypeVar("Part")


@cache
def _modules(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    return tuple(f"{package}.{module.name}" for module in pkgutil.iter_modules(path))


def find_all(package: str, base: type[Part]) -> dict[str, type[Part]]:
    """Every named, concrete subclass of `base` that a module of `package` defines."""
    found: dict[str, type[Part]] = {}
    for module_name in _modules(package):
        module = importlib.import_module(module_name)
        for value in vars(module).values():
            if not inspect.isclass(value) or not issubclass(value, base):
                continue
            if value.__module__ != module_name or inspect.isabstract(value):
                continue
            name = vars(value).get("name")
            if isinstance(name, str):
                if found.get(name, value) is not value:
                    raise TypeError(f"two parts are called '{name}' in {package}")
                found[name] = value
    return found


def find(package: str, base: type[Part], name: str, kind: str) -> type[Part]:
    """The part called `name`, or a `UsageError` that gives the nearest known name."""
    parts = find_all(package, base)
    if name not in parts:
        raise unknown(kind, name, parts)
    return parts[name]
