"""Types for the fields of settings, with bounds that pydantic checks.

A single number takes its bounds from `Field`: `Annotated[Number, Field(ge=0, le=10)]`. For values
with several forms, `Allowed` states in words what the error message says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

Pair = tuple[float, float]


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "must be a number")
    return value


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError("must be odd")
    return value


Number = Annotated[float, BeforeValidator(_no_bool)]
"""Any number, but not True or False."""
Integer = Annotated[int, BeforeValidator(_no_bool)]

Probability = Annotated[Number, Field(ge=0, le=1)]
PositiveNumber = Annotated[Number, Field(gt=0)]
NonNegativeNumber = Annotated[Number, Field(ge=0)]
PositiveInt = Annotated[Integer, Field(ge=1)]
NonNegativeInt = Annotated[Integer, Field(ge=0)]
Odd = AfterValidator(_odd)
"""Metadata of an integer that must be odd."""


@dataclass(frozen=True)
class Allowed:
    """Metadata of a field: what it allows in words, and a check of values of the right type."""

    wording: str
    check: Callable[[Any], bool]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._validate, handler(source))

    def _validate(self, value: Any, parse: Callable[[Any], Any]) -> Any:
        try:
            parsed = parse(_no_bool(value))
            if self.check(parsed):
                return parsed
        except (ValidationError, PydanticCustomError):
            pass
        raise ValueError(f"must be {self.wording}")


def in_order(low: float, high: float = inf, form: str = "two numbers") -> Allowed:
    """Metadata of a pair with bounds, the lower number first, or of one non-negative number."""
    bounds = f"of at least {low:g}" if high == inf else f"from {low:g} to {high:g}"

    def check(value: Any) -> bool:
        first, last = value if isinstance(value, tuple) else (max(low, 0), value)
        return bool(low <= first <= last <= high)

    return Allowed(f"{form} {bounds}, the lower first", check)


Size = Annotated[
    int | tuple[int, int],
    Allowed("a number of pixels, or height and width", lambda size: min(ends(size)) >= 1),
]


def ends(value: int | tuple[int, int]) -> tuple[int, int]:
    """A pair as it is, and a single number twice: both ends of a range, or height and width."""
    return (value, value) if isinstance(value, int) else value
