"""Shares and names within a sentence."""

from collections.abc import Sequence


def percent(share: float, digits: int = 0) -> str:
    """`31 %`."""
    return f"{100 * share:.{digits}f} %"


def some(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c, …`: the first names, and whether there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
