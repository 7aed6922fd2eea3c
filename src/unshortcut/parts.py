"""Settings out of plain mappings: validated, with errors that name the key, the value, the cure.

A *part* is a frozen dataclass with a `name`, found by being in its folder. In a recipe it is a
mapping, `{name: color_jitter, hue: 0.1}`; in Python it is the dataclass, `ColorJitter(hue=0.1)`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from unshortcut.discovery import find
from unshortcut.errors import UsageError, unknown

T = TypeVar("T")


@dataclass(frozen=True)
class PartOf:
    """Annotation of a field that holds a part: `Annotated[Loss, PartOf(...)]`."""

    package: str
    base: type
    kind: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.build,
            serialization=core_schema.plain_serializer_function_ser_schema(part_to_mapping),
        )

    def build(self, value: Any) -> Any:
        """The part that a mapping describes; a part that is one already stays as it is."""
        if isinstance(value, self.base):
            return value
        if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
            raise UsageError(
                f"{self.kind}: expected a mapping with a name, such as {{name: …}}, got {value!r}"
            )
        settings = {key: setting for key, setting in value.items() if key != "name"}
        part: type = find(self.package, self.base, value["name"], self.kind)
        return build(part, settings, f"{self.kind} '{value['name']}'")


def part_to_mapping(part: Any) -> dict[str, Any]:
    """The mapping that describes a part: its name and all of its settings."""
    plain = _adapter(type(part)).dump_python(part, mode="json")
    return {"name": part.name, **plain}


def build(kind: type[T], settings: Mapping[str, Any], where: str) -> T:
    """An instance of a dataclass or pydantic model from plain settings, or a `UsageError`."""
    try:
        made: T = _adapter(kind).validate_python(dict(settings))
        return made
    except ValidationError as error:
        raise usage_error(error, kind, where) from None


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _adapter(kind: type) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        if is_dataclass(kind) and not hasattr(kind, "__pydantic_config__"):
            # Plain dataclasses refuse unknown keys here without having to say so themselves.
            kind.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def usage_error(error: ValidationError, kind: type, where: str) -> UsageError:
    """The first problem of a validation as one sentence: key, value, what is allowed."""
    problem = error.errors(include_url=False)[0]
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path)
    value = problem.get("input")
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        known = _keys_at(kind, path[:-1])
        said = unknown("key", key, [".".join([*path[:-1], name]) for name in known])
        return UsageError(f"{where}: {said}")
    if problem["type"] in ("missing", "missing_argument"):
        return UsageError(f"{where}: the key '{key}' is missing")
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return UsageError(f"{where}: '{key}' {message}, got {value!r}")


def _keys_at(kind: Any, path: list[str]) -> list[str]:
    """The keys that a settings class, or a class nested in it, knows."""
    for step in path:
        annotation = _fields(kind).get(step)
        if annotation is None:
            return []
        kind = annotation
    return list(_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: info.annotation for name, info in kind.model_fields.items()}
    if is_dataclass(kind):
        return {field.name: field.type for field in fields(kind)}
    return {}
