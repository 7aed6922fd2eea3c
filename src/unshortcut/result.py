"""`result.json`, the machine-readable result of a command, and the versions it depends on."""

import platform
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from unshortcut.files import write_json

RESULT_FILE = "result.json"
_ABSOLUTE = re.compile(r"(?:(?<![\w.~:/-])|(?<=:)(?!//))~?/[^\s'\",;:]+")
"""Absolute paths in a message, also after a prefix (`cub:/data`), but not in a URL (`://`)."""
_PACKAGES = ("torch", "torchvision", "timm", "lightning", "numpy")
_OPENCV = ("opencv-contrib-python-headless", "opencv-python-headless")
"""Builds of OpenCV; the first has selective search, and everything that the other has."""


def write_result(
    path: Path,
    command: str,
    *,
    metrics: dict[str, Any],
    seed: int | None = None,
    data: str | None = None,
    model: str | None = None,
) -> dict[str, Any]:
    """Write a result, without host names and absolute paths, so that it can be published."""
    result = {
        "command": command,
        "version": package_version(),
        "commit": commit(),
        "seed": seed,
        "data": data and public_name(data),
        "model": model and public_name(model),
        "metrics": metrics,
    }
    write_json(path, result)
    return result


def public_name(spec: str) -> str:
    """A data or model spec without the user's private folders."""
    architecture, at, file = spec.partition("@")
    if at and ":" in architecture and "/" not in architecture:  # timm:NAME@FILE
        return f"{architecture}@{public_name(file)}"
    if _is_private(spec):
        return Path(spec).name
    prefix, colon, path = spec.rpartition(":")  # imagenet100:/data/imagenet
    return f"{prefix}{colon}{Path(path).name}" if _is_private(path) else spec


def _is_private(path: str) -> bool:
    return Path(path).is_absolute() or path.startswith(("..", "~"))


def unique_names(names: Sequence[str]) -> list[str]:
    """Make names unique by a number after those that repeat: `a`, `a (2)`."""
    found: list[str] = []
    for name in names:
        chosen, number = name, 1
        while chosen in found:
            number += 1
            chosen = f"{name} ({number})"
        found.append(chosen)
    return found


def public_text(text: str) -> str:
    """A message without the user's private folders."""
    return _ABSOLUTE.sub(lambda path: Path(path[0]).name or path[0], text)


@cache
def package_version() -> str:
    try:
        return version("unshortcut")
    except PackageNotFoundError:
        return "unknown"


@cache
def commit() -> str | None:
    """The commit of the source tree, with `+` for local changes; None outside a repository."""
    folder = Path(__file__).parent
    if not (folder.parent.parent / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", str(folder))
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version(), "unshortcut": package_version()}
    for package in (*_PACKAGES, *_OPENCV):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
