"""Results of measurements as JSON, and a cache of them."""

import math
import warnings
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError

from unshortcut.files import atomic_open, cache_folder
from unshortcut.measuring.exhibits import Picture
from unshortcut.parts import adapters

R = TypeVar("R")
_adapter = adapters(ConfigDict(ser_json_inf_nan="constants", extra="forbid"))


def to_json(result: Any) -> bytes:
    """Write a result for `from_json`; NaN stays NaN."""
    return _adapter(type(result)).dump_json(result)


def from_json(kind: type[R], content: bytes) -> R:
    """Read a result that `to_json` wrote. Raises `ValueError` if it is not of this type."""
    result: R | None = _adapter(kind).validate_json(content)
    if result is None:
        raise ValueError("there is no result")
    return result


def plain_values(result: Any) -> Any:
    """A result as plain values without pictures; NaN and infinity become None."""
    return _clean(_adapter(type(result)).dump_python(result))


def remember(key: str, result: Any, seconds: float) -> None:
    """Store a result and the time it took; a cache that cannot be written is a warning."""
    path = _path(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_open(path, shared=True) as file:
            file.write(f"{seconds:.3f}\n".encode())
            file.write(to_json(result))
    except OSError as error:
        warnings.warn(f"results are not cached: {error}", stacklevel=2)


def recall(kind: type[R], key: str) -> tuple[R, float] | None:
    """The result stored under a key and the seconds it took, or None."""
    try:
        seconds, _, content = _path(key).read_bytes().partition(b"\n")
        return from_json(kind, content), float(seconds)
    except (OSError, ValueError, ValidationError):
        return None  # not stored, of another version, or damaged


def _path(key: str) -> Path:
    return cache_folder() / "audit" / f"{key}.json"


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _clean(entry) for key, entry in value.items() if not _is_picture(entry)}
    if isinstance(value, list | tuple):
        return [_clean(entry) for entry in value if not _is_picture(entry)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _is_picture(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == set(Picture.__dataclass_fields__)
