"""`unshortcut.json`: how a data set was made, and which images could not be copied.

It depends only on the sources, the parameters and the versions, so interrupted and uninterrupted
runs, on one core or on a cluster, write the same bytes.
"""

import json
import warnings
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unshortcut.data.copies import MANIFEST
from unshortcut.data.failures import Failure
from unshortcut.errors import UsageError
from unshortcut.files import write_json
from unshortcut.result import versions

_PACKAGES = ("numba", "pillow", "simplejpeg")
_ABOUT = ("counts", "failures", "finished")


class Manifest:
    """The manifest of a destination: the one that exists, if any, and the one to write."""

    def __init__(
        self, destination: Path, command: str, source: str, parameters: dict[str, Any]
    ) -> None:
        self.path = destination / MANIFEST
        self.identity = {"command": command, **parameters, "source": source}
        self.versions = versions() | {package: version(package) for package in _PACKAGES}
        self.before = _read(self.path)

    @property
    def resumes(self) -> bool:
        """Whether an earlier run has written to the destination."""
        return self.before is not None

    @property
    def finished(self) -> bool:
        return self.before is not None and self.before.get("finished") is True

    def check(self, *, warn: bool = True) -> None:
        """Raise `UsageError` if the destination was made with other parameters.

        Warns if it was made with other versions.
        """
        if self.before is None:
            return
        there = _flat({k: v for k, v in self.before.items() if k not in (*_ABOUT, "versions")})
        here = _flat(self.identity)
        differing = [key for key in here | there if there.get(key) != here.get(key)]
        if "operation.name" in differing:
            # Settings of different operations cannot be compared.
            differing = [key for key in differing if not key.startswith("operation.")]
            differing.insert(0, "operation.name")
        if differing:
            lines = [f"  {k}: {there.get(k)!r} there, {here.get(k)!r} here" for k in differing]
            raise UsageError(
                f"{self.path.parent} was made with other parameters; name another folder, or use "
                "the same ones:\n" + "\n".join(lines)
            )
        old = self.before.get("versions", {})
        new = [
            f"{name} ({old.get(name)} there, {number} here)"
            for name, number in self.versions.items()
            if old.get(name) != number
        ]
        if new and warn:
            warnings.warn(
                f"{self.path.parent} was begun with other versions of {', '.join(new)}; new "
                "images may differ from the existing ones by rounding",
                stacklevel=2,
            )

    def begin(self) -> None:
        """Record that the data set is being made."""
        self._write(finished=False)

    def finish(self, made: int, failures: Iterable[Failure]) -> None:
        """Record what was made, with the failures in the order of their paths."""
        listed = [{"path": path, "reason": reason} for path, reason in sorted(failures)]
        counts = {"images": made + len(listed), "made": made, "failed": len(listed)}
        self._write(counts=counts, failures=listed, finished=True)

    def _write(self, **about: Any) -> None:
        write_json(self.path, {**self.identity, "versions": self.versions, **about})


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UsageError(f"{path} is not the manifest of a data set; name another folder")
    return content


def _flat(values: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Nested keys joined by dots."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        nested = isinstance(value, dict)
        flat |= _flat(value, f"{path}{key}.") if nested else {f"{path}{key}": value}
    return flat
