"""Finds parts by name: adding one to its folder edits no list.

A part is a class with a `name` of its own, defined in a module of a package
(`unshortcut.methods`, `unshortcut.augmentations`, …). A user's own part is given as
`package.module:Class`; its module may lie in the working folder.
"""

import importlib
import inspect
import pkgutil
import sys
from functools import cache
from typing import Any, TypeVar

from unshortcut.errors import UsageError, unknown

Part = TypeVar("Part")


def find_all(package: str, base: type[Part]) -> dict[str, type[Part]]:
    """Every named, concrete subclass of `base` that a module of `package` defines."""
    found: dict[str, type[Part]] = {}
    for module in _modules(package):
        for name, part in _parts(f"{package}.{module}", base).items():
            if name in found:
                raise TypeError(f"two parts are called '{name}' in {package}")
            found[name] = part
    return found


def find(package: str, base: type[Part], name: str, kind: str) -> type[Part]:
    """The part called `name` or given as `package.module:Class`.

    Raises a `UsageError` that gives the nearest known name. The module that is called like the
    part is imported first, and the others only if the part is not in it.
    """
    if ":" in name:
        return _user_part(base, name, kind)
    parts = _parts(f"{package}.{name}", base) if name in _modules(package) else {}
    if name not in parts:
        parts = find_all(package, base)
    if name not in parts:
        raise unknown(kind, name, parts)
    return parts[name]


def spec_of(part: type) -> str:
    """What `find` is given for a part: its name, or `package.module:Class` for a user's own."""
    if part.__module__.startswith(f"{__package__}."):
        return part.name  # type: ignore[attr-defined]
    return f"{part.__module__}:{part.__qualname__}"


def import_object(spec: str) -> Any:
    """The object that `package.module:name` stands for; the working folder is searched too."""
    module, _, name = spec.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise UsageError(f"'{spec}': there is no module '{error.name}'") from None
    except (AttributeError, ValueError, TypeError) as error:
        raise UsageError(f"'{spec}': {error}") from None


@cache
def _modules(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    return tuple(module.name for module in pkgutil.iter_modules(path))


def _parts(module_name: str, base: type[Part]) -> dict[str, type[Part]]:
    """The parts that one module defines, by name."""
    found: dict[str, type[Part]] = {}
    for value in vars(importlib.import_module(module_name)).values():
        if not inspect.isclass(value) or not issubclass(value, base) or inspect.isabstract(value):
            continue
        name = vars(value).get("name")
        if value.__module__ == module_name and isinstance(name, str):
            if found.get(name, value) is not value:
                raise TypeError(f"two parts are called '{name}' in {module_name}")
            found[name] = value
    return found


def _user_part(base: type[Part], spec: str, kind: str) -> type[Part]:
    part = import_object(spec)
    if not inspect.isclass(part) or not issubclass(part, base) or inspect.isabstract(part):
        raise UsageError(f"{kind} '{spec}' must be a concrete subclass of {base.__name__}")
    if not isinstance(getattr(part, "name", None), str):
        raise UsageError(f"{kind} '{spec}' needs a class attribute 'name'")
    return part
