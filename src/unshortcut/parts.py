"""Validated settings, whose errors name the part, the key, the value and what is allowed.

A *part* is a class with a `name`, found in its folder, whose fields are its settings. In a recipe
it is a mapping, `{name: color_jitter, hue: 0.1}`; in Python it is the object,
`ColorJitter(hue=0.1)`. Both are checked by pydantic and raise a `UsageError`.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache, wraps
from types import NoneType
from typing import Any, TypeVar, dataclass_transform, get_args

import pydantic.dataclasses
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from unshortcut.discovery import find, spec_of
from unshortcut.errors import UsageError
from unshortcut.renamed import unknown_key

T = TypeVar("T")

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)


def adapters(config: ConfigDict) -> Callable[[Any], TypeAdapter[Any]]:
    """A function that gives the validator of a class, which is made once."""
    # Optional, because pydantic takes no config for a dataclass, only for what contains it.
    return cache(lambda kind: TypeAdapter(kind | None, config=config))


_adapter = adapters(_CONFIG)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, Field))
def settings(kind: type[T]) -> type[T]:
    """Class decorator: a frozen dataclass whose values are validated when it is created."""
    made: Any = pydantic.dataclasses.dataclass(frozen=True, config=_CONFIG)(kind)
    validate: Callable[..., None] = made.__init__

    @wraps(validate)
    def init(self: Any, *args: Any, **values: Any) -> None:
        try:
            validate(self, *args, **values)
        except ValidationError as error:
            raise usage_error(error, made, getattr(made, "name", made.__name__)) from None

    made.__init__ = init
    return made


@dataclass(frozen=True)
class PartOf:
    """Annotation of a field that holds a part: `Annotated[Loss, PartOf(...)]`."""

    package: str
    base: type
    kind: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.build,
            serialization=core_schema.plain_serializer_function_ser_schema(part_to_mapping),
        )

    def find(self, name: str) -> type:
        """The class of a part by its name, or given as `package.module:Class`."""
        return find(self.package, self.base, name, self.kind)

    def build(self, value: Any) -> Any:
        """The part that a mapping describes; a part is returned as it is."""
        if isinstance(value, self.base):
            return value
        if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
            raise UsageError(
                f"{self.kind}: expected a mapping with a name, such as {{name: …}}, got {value!r}"
            )
        values = {key: setting for key, setting in value.items() if key != "name"}
        return build(self.find(value["name"]), values, f"{self.kind} '{value['name']}'")


def part_to_mapping(part: Any) -> dict[str, Any]:
    """The mapping that describes a part: its name and all of its settings."""
    return {"name": spec_of(type(part)), **_adapter(type(part)).dump_python(part, mode="json")}


def build(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """An instance of a dataclass or pydantic model from plain values, or a `UsageError`."""
    try:
        made: T = _adapter(kind).validate_python(dict(values))
        return made
    except ValidationError as error:
        raise usage_error(error, kind, where) from None


def usage_error(error: ValidationError, kind: type, where: str) -> UsageError:
    """The first problem of a validation as one sentence: key, value, what is allowed."""
    problem = error.errors(include_url=False)[0]
    path = [str(part) for part in problem["loc"]]
    if path and isinstance(problem["loc"][0], int):  # a positional argument
        path[0] = [*_fields(kind), *path][int(path[0])]
    key = ".".join(path)
    *parents, last = path or [""]
    known = _fields_at(kind, parents)
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return UsageError(f"{where}: {unknown_key(key, ['.'.join([*parents, k]) for k in known])}")
    if problem["type"] in ("missing", "missing_argument"):
        return UsageError(f"{where}: the key '{key}' is missing")
    message = problem["msg"].removeprefix("Value error, ")
    if not path:
        return UsageError(f"{where}: {message}")
    if problem["type"] == "too_short":
        message = "must not be empty"
    if problem["type"] in _NUMBER_PROBLEMS and last in known:
        message = _allowed_numbers(known[last]) or message
    message = message.replace("Input should", "must")
    colon = "" if message.startswith("must") else ":"
    return UsageError(f"{where}: '{key}'{colon} {message}, got {problem.get('input')!r}")


_NUMBER_PROBLEMS = {
    f"{kind}_{problem}" for kind in ("int", "float", "number") for problem in ("type", "parsing")
} | {
    "greater_than", "greater_than_equal", "less_than", "less_than_equal", "int_from_float",
    "finite_number",
}  # fmt: skip


def _allowed_numbers(field: FieldInfo) -> str | None:
    """The bounds of a field for numbers, in words: "must be an integer from 1 to 99"."""
    number = FieldInfo.from_annotation(_without_none(field.annotation))
    if number.annotation not in (int, float):
        return None
    bounds = {
        key: f"{getattr(entry, key):g}"
        for entry in (*field.metadata, *number.metadata)
        for key in ("ge", "gt", "le", "lt")
        if hasattr(entry, key)
    }
    wording = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
    if bounds.keys() == {"ge", "le"}:
        allowed = f"from {bounds['ge']} to {bounds['le']}"
    else:
        allowed = " and ".join(f"{wording[key]} {bound}" for key, bound in bounds.items())
    return f"must be {'an integer' if number.annotation is int else 'a number'} {allowed}".strip()


def _fields_at(kind: Any, path: list[str]) -> dict[str, FieldInfo]:
    """The fields of a settings class, or of a class nested in it."""
    for step in path:
        field = _fields(kind).get(step)
        kind = field and _without_none(field.annotation)
    return _fields(kind)


def _without_none(annotation: Any) -> Any:
    """X for `X | None`, any other annotation as it is."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 else annotation


def _fields(kind: Any) -> dict[str, FieldInfo]:
    if not isinstance(kind, type):
        return {}
    if issubclass(kind, BaseModel):
        return kind.model_fields
    if is_dataclass(kind):
        types = {field.name: field.type for field in dataclasses.fields(kind)}
        return {
            name: FieldInfo.from_annotation(Any if isinstance(annotation, str) else annotation)
            for name, annotation in types.items()
        }
    return {}
