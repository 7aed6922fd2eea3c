"""Names that recipes used in earlier versions, so that an error can state the present one."""

from collections.abc import Iterable

from unshortcut.errors import UsageError, unknown

RECIPE_KEYS = {
    "optimiser": "optimizer",
    "colour_split": "color_split",
    "objective": "loss",
    "equal_draws": "equal_params",
    "turn": "rotate",
    "spread": "magnitude_std",
    "figures": "metrics",
    "double": "filtered_copy",
}
"""The last part of a recipe's key: the old name, and the new one."""
RECIPE_WORDS = {"turn": "rotate", "colour": "color"}
"""Words in the names of recipes, between hyphens."""


def unknown_key(key: str, known: Iterable[str]) -> UsageError:
    """An error for an unknown key, which may be dotted; `known` are the keys in its place.

    >>> str(unknown_key("encoder.colour_split", ["encoder.name", "encoder.color_split"]))
    "unknown key 'encoder.colour_split'; it is called 'encoder.color_split' now"
    """
    *parents, last = key.split(".")
    return _unknown("key", key, ".".join([*parents, RECIPE_KEYS.get(last, last)]), known)


def unknown_recipe(name: str, known: Iterable[str]) -> UsageError:
    """An error for an unknown recipe, given the names of those that exist."""
    words = (RECIPE_WORDS.get(word, word) for word in name.split("-"))
    return _unknown("recipe", name, "-".join(words), known)


def _unknown(kind: str, old: str, new: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    if new in known:
        return UsageError(f"unknown {kind} '{old}'; it is called '{new}' now")
    return unknown(kind, old, known)
