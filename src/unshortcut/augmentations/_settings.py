"""Checks of an augmentation's settings: one sentence that names the key, the value, the allowed."""

from collections.abc import Sequence
from typing import Any

from unshortcut.errors import UsageError

Pair = tuple[float, float]


def check_probability(augmentation: str, value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise UsageError(f"{augmentation}.p must be a number from 0 to 1, not {value!r}")


def check_number(augmentation: str, key: str, value: Any, low: float, high: float) -> None:
    if not _is_number(value) or not low <= value <= high:
        raise UsageError(
            f"{augmentation}.{key} must be a number from {low:g} to {high:g}, not {value!r}"
        )


def as_range(
    augmentation: str, key: str, value: Any, low: float, high: float = float("inf")
) -> Pair:
    """Two numbers in order between `low` and `high`, as a tuple."""
    if _is_pair(value) and all(_is_number(end) for end in value):
        first, last = value
        if low <= first <= last <= high:
            return float(first), float(last)
    bound = f"between {low:g} and {high:g}" if high < float("inf") else f"of at least {low:g}"
    raise UsageError(
        f"{augmentation}.{key} must be two numbers {bound}, the lower first, not {value!r}"
    )


def as_whole_range(augmentation: str, key: str, value: Any, low: int) -> int | tuple[int, int]:
    """A whole number of at least `low`, or two in order as a tuple."""
    if _is_whole(value, low):
        return int(value)
    if _is_pair(value) and all(_is_whole(end, low) for end in value) and value[0] <= value[1]:
        return int(value[0]), int(value[1])
    raise UsageError(
        f"{augmentation}.{key} must be a whole number of at least {low}, or two, the lower first, "
        f"not {value!r}"
    )


def ends(numbers: int | tuple[int, int]) -> tuple[int, int]:
    """The lowest and the highest of a range; one number is both."""
    return (numbers, numbers) if isinstance(numbers, int) else numbers


def check_whole(
    augmentation: str, key: str, value: Any, low: int, high: int, *, odd: bool = False
) -> None:
    if not _is_whole(value, low) or value > high or (odd and value % 2 == 0):
        kind = "an odd" if odd else "a whole"
        raise UsageError(
            f"{augmentation}.{key} must be {kind} number from {low} to {high}, not {value!r}"
        )


def as_size(augmentation: str, value: Any) -> int | tuple[int, int]:
    """A side in pixels, or height and width as a tuple."""
    if _is_whole(value, 1):
        return int(value)
    if _is_pair(value) and all(_is_whole(side, 1) for side in value):
        return int(value[0]), int(value[1])
    raise UsageError(
        f"{augmentation}.size must be a number of pixels, or height and width, not {value!r}"
    )


def height_and_width(size: int | tuple[int, int]) -> tuple[int, int]:
    """A size as height and width; one number is a square."""
    return (size, size) if isinstance(size, int) else size


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _is_pair(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2
