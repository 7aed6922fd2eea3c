"""Shares and lists of names as parts of a sentence."""

from collections.abc import Sequence


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage, e.g. `31 %`."""
    return f"{100 * share:.{digits}f} %"


def some(names: Sequence[str], most: int = 3) -> str:
    """The first names, with an ellipsis if there are more: `a, b, c, …`."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
