"""What a claim fixes before any result is seen: arms, seeds, order, and one primary effect.

A registered claim is decided at the scale `laptop`. Its seeds are never extended because of its
interval.
"""

from dataclasses import dataclass

from unshortcut.reproduction.effects import Effect


@dataclass(frozen=True)
class Registration:
    """The experiment that decides a claim."""

    order: int
    """Place among the claims; lower numbers run first."""
    seeds: int
    arms: tuple[str, ...]
    """Labels of the variants that are trained, e.g. `alpha=2`."""
    primary: Effect
    """The effect whose word is that of the claim."""
    changes: tuple[str, ...] = ()
    """Changes to the claim's recipes in addition to those of the scale, `key=value`."""
